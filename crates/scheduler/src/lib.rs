#![doc = include_str!("../README.md")]
//!
//! # The files
//!
//! | folder, from below | what stands there |
//! |---|---|
//! | `protocol` | the types that a scheduler's processes agree on |
//! | `notes/` | what is noted of processes, if that is asked for |
//! | `api/`, `table/` | what users see; what the process table holds of a process |
//! | `worker/` | what a worker does with a process: `driver` is one turn, phase by phase |
//! | `ops/` | the methods of [`Handle`], each beside its errors: send, submit, signal, … |
//! | `future/`, `services/` | futures as processes; timers, names, nodes, … |
//! | `builder`, `scheduler` | how it is built, and how it ends |
//!
//! One ring of files is the interface's own, and cannot be cut: a process's methods get a context,
//! which has the handle, which has the table of the processes: `table/{body, item}` and
//! `api/{process, context, handle, step_output, command, life_cycle, process_error}`.
#![deny(unsafe_code)]

mod api;
mod builder;
mod future;
mod notes;
mod ops;
mod protocol;
mod scheduler;
mod services;
mod table;
mod worker;

pub use api::caller::Caller;
pub use api::cancel::Cancel;
pub use api::command::{CommandHandler, Completion};
pub use api::context::Context;
pub use api::dump::Dump;
pub use api::end_call::EndCall;
pub use api::event::{CommandError, Event, Events};
pub use api::from_fn::{FromFn, from_fn};
pub use api::handed_back::HandedBack;
pub use api::handle::{CalledFromInside, Handle};
pub use api::life_cycle::{HookError, LifeCycle};
pub use api::process::{InitError, Process};
pub use api::process_error::ProcessError;
pub use api::process_handle::{JoinError, ProcessHandle};
pub use api::receiver::{Receiver, SendError, Undelivered};
pub use api::running_call::{CallKind, RunningCall};
pub use api::stats::{Stats, WorkerStats};
pub use api::step_output::StepOutput;
pub use api::submission::{Start, Submission};
pub use api::when_full::WhenFull;
pub use builder::{BuildError, Builder};
pub use filch_process_table::{
    Activity, Depth, Down, ExitReason, Exited, Link, Monitor, NoSuchProcess, Node, PendingCommand,
    PendingFuture, PendingTimers, Pid, ProcessDetails, ProcessInfo, ProcessList, RegisterError,
    Standstill, Verdict,
};
pub use filch_processors::{ProcessorStats, QueueLengths, ReserveError, ResizeError, StartError};
pub use future::ask::Asked;
pub use future::inbox::Inbox;
pub use future::join_handle::JoinHandle;
pub use future::process_future::ProcessFuture;
pub use future::spawn::{AsyncFn, SpawnError};
pub use ops::call::CallError;
pub use ops::execute::ExecuteError;
pub use ops::send_when_room::{Sending, SendingError};
pub use ops::shutdown::ShutdownReport;
pub use ops::submit::{Refused, SubmitError};
pub use ops::upgrade::UpgradeError;
pub use protocol::Protocol;
pub use scheduler::Scheduler;
pub use services::blocking::BlockingThreads;
pub use services::bound_thread::BoundThread;
pub use services::dynamic;
pub use services::groups::{Broadcast, GroupError};
pub use services::nodes::ConnectError;
pub use services::standstill::StandstillError;
#[doc(hidden)] // for `filch-testing`, which shows it
pub use services::testing;
pub use services::timers;

#[doc = include_str!("../SIGNALS.md")]
pub mod signals {}
