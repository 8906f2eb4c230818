//! Build scheduler.

mod config;
mod planner;

pub use config::Config;
pub use planner::{
    AlreadyPending, Counts, Grant, PickId, Planner, Queues, Remains, Removed, ReportError, Sink,
    UnknownWorker, WorkerId,
};
/// The essay.
pub mod algorithm {}
