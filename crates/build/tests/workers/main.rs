//! Coordinators and workers that run real actions: in this process, and as processes.

#[path = "../common/client.rs"]
#[expect(dead_code, reason = "the tests of the farm use the rest")]
mod client;
mod encrypted;
mod overhead;
mod peers;
mod processes;
mod together;
