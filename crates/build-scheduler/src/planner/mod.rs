//! The sequential scheduler: which worker runs which job, without threads, clock or I/O.

mod arena;
mod board;
mod errors;
mod lists;
mod plan;
mod random;

pub use errors::{AlreadyPending, ReportError, UnknownWorker};
pub use plan::{Counts, Grant, PickId, Planner, Queues, Remains, Removed, Sink, WorkerId};
