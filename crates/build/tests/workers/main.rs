//! Coordinators and workers that run real actions: in this process, and as processes.

#[path = "../common/client.rs"]
mod client;
mod peers;
mod processes;
mod together;
