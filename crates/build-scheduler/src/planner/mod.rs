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
mod records;
mod report;

pub use grant::{Grant, PickId, Sink, WorkerId};
pub use plan::Planner;
pub use report::{AlreadyPending, Counts, Queues, Removed};
