#![doc = include_str!("../README.md")]

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}

mod completion;
mod context;
mod counter;
mod data;
mod engine;
mod envelope;
mod error;
mod function;
mod links;
mod owners;
mod report;
mod route;
mod scheduler;
mod shared;
mod worker;

pub use completion::Completed;
pub use context::{Context, Received};
pub use data::Request;
pub use engine::{Engine, TaskSender};
pub use error::{
    CalledFromInside, Ending, Exit, LockDataError, NestedError, ReceiveError, RemoveError,
    SendError, StartError, WaitError,
};
pub use filch_event_queue::Depth;
pub use function::{Function, Handler, Param};
pub use report::{Report, SchedulerReport, WorkerReport};
pub use route::Task;
pub use scheduler::handle::{AddError, LocalScheduler, Scheduler, Unfit};
pub use worker::public::{Stage, WaitsFor, WorkerHandle};
pub use worker::spec::Worker;
