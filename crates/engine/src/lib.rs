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
mod exit;
mod fiber;
mod function;
mod letter;
mod links;
mod message;
mod param;
mod received;
mod report;
mod request;
mod route;
mod scheduler;
mod shared;
mod task;
mod worker;

pub use completion::Completed;
pub use context::Context;
pub use engine::{Engine, TaskSender};
pub use error::{
    CalledFromInside, Ending, LockDataError, NestedError, ReceiveError, RemoveError, SendError,
    StartError, WaitError,
};
pub use exit::Exit;
pub use filch_event_queue::Depth;
pub use function::{Function, Handler};
pub use param::Param;
pub use received::Received;
pub use report::{Report, SchedulerReport, WorkerReport};
pub use request::Request;
pub use scheduler::handle::{LocalScheduler, Scheduler};
pub use scheduler::unfit::{AddError, Unfit};
pub use task::Task;
pub use worker::handle::WorkerHandle;
pub use worker::public::{Stage, WaitsFor};
pub use worker::spec::Worker;
