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
mod ops;
mod protocol;
mod scheduler;
mod services;
#[doc(hidden)] // for the models, which have it without workers
pub mod table;
mod worker;

pub use api::cancel::Cancel;
pub use api::command::{CommandHandler, Completion};
pub use api::context::Context;
pub use api::end_call::EndCall;
pub use api::event::{CommandError, Event, Events};
pub use api::extensions::Extension;
pub use api::from_fn::{FromFn, from_fn};
pub use api::handed_back::HandedBack;
pub use api::handle::{CalledFromInside, Handle};
pub use api::life_cycle::{HookError, LifeCycle};
pub use api::observer::Observer;
pub use api::outstanding::OpenCommand;
pub use api::place::{NotAdmitted, Place};
pub use api::policy::{Door, MailboxPolicy, TellSender};
pub use api::process::{InitError, Process};
pub use api::process_error::{AnyOutput, Outcome, ProcessError};
pub use api::process_handle::{JoinError, ProcessHandle};
pub use api::receiver::{Receiver, SendError, Undelivered};
pub use api::running_call::{CallKind, RunningCall};
pub use api::stats::{Stats, WorkerStats};
pub use api::step_output::StepOutput;
pub use api::submission::{Start, Submission};
pub use api::waker::ProcessWaker;
pub use builder::{BuildError, Builder};
pub use filch_event_queue::Depth;
pub use filch_processors::{ProcessorStats, QueueLengths, ReserveError, ResizeError, StartError};
pub use ops::shutdown::ShutdownReport;
pub use ops::submit::{Refused, SubmitError};
pub use ops::upgrade::UpgradeError;
pub use protocol::Protocol;
pub use scheduler::Scheduler;
pub use services::bound_thread::BoundThread;
pub use services::service_threads::is_ours as is_own_thread;
pub use services::standstill::StandstillError;
#[doc(hidden)] // for `filch-testing`, which shows it
pub use services::testing;
pub use table::{
    Activity, Down, ExitReason, Exited, Link, Monitor, NoSuchProcess, Node, PendingCommand,
    PendingFuture, PendingTimers, Pid, ProcessDetails, ProcessInfo, ProcessList, Standstill,
    Verdict,
};

#[doc = include_str!("../SIGNALS.md")]
pub mod signals {}
