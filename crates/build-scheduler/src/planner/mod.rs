//! The sequential scheduler: it decides which worker runs which job, without threads, clock or I/O.

mod arena;
mod artifacts;
mod board;
mod caches;
mod grant;
mod ids;
mod lists;
mod numbers;
mod picks;
mod plan;
mod random;

pub use grant::{AlreadyPending, Counts, Grant, PickId, Queues, Removed, Sink, WorkerId};
pub use plan::Planner;
