//! Coordinators and workers that run real actions: in this process, and as processes.

mod authority;
#[path = "../common/client.rs"]
mod client;
mod encrypted;
#[path = "../common/leaver.rs"]
mod leaver;
mod orphans;
mod overhead;
mod peers;
mod processes;
mod together;
