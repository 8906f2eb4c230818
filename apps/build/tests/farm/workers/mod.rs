//! Coordinators and workers that run real actions: in this process, and as processes.

mod authority;
mod encrypted;
mod orphans;
mod overhead;
mod peers;
mod processes;
mod sandbox;
pub(crate) mod together;
