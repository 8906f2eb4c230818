#![doc = include_str!("../README.md")]

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}

mod alarm;
mod combiner;
mod config;
mod error;
mod job;
mod machine;
mod picking;
mod planner;
mod pools;
mod scheduler;
mod shared;

#[doc(hidden)] // for the models
pub use combiner::{Apply, Combiner};
pub use config::Config;
pub use error::{Answer, JobError, Pending, PickError, ReportError, Stopped, UnknownWorker};
pub use job::{Content, Id, Job, Outcome};
pub use picking::{Canceller, Picking};
pub use planner::{
    AlreadyPending, Counts, Grant, PickId, Planner, Queues, Removed, Sink, WorkerId,
};
pub use pools::{Platform, Pool, Pools, Properties, Rank};
pub use scheduler::Scheduler;
