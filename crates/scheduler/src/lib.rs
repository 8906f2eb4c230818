#![doc = include_str!("../README.md")]
//!
//! # The files
//!
//! | folder | what stands there |
//! |---|---|
//! | `protocol` | the types that a scheduler's processes agree on |
//! | `process/` | what users write: a process, its context, events, commands and output |
//! | `table/` | where a process lives: slots, bodies, the exit |
//! | `link/` | monitors, links, signals, calls at an end |
//! | `handle/` | submit, send, join; hooks, mailbox policies |
//! | `observe/` | reports: what each process does, what nothing wakes, figures |
//! | `turn/` | what workers do: `driver` is one turn, phase by phase; `shutdown` ends all |
//! | `builder`, `scheduler` | how it is built, and owned |
//!
//! The folders from `process/` to `handle/` are one layer: a process's methods get a context, which
//! has the handle, which has the table of the processes. `observe/` and `turn/` stand above them.
#![deny(unsafe_code)]

mod builder;
mod handle;
mod link;
mod observe;
mod process;
mod protocol;
mod scheduler;
#[doc(hidden)] // for the models, which have it without workers
#[expect(unsafe_code, reason = "hands slots, bodies and exits on by state")]
pub mod table;
#[cfg(test)]
mod tests;
mod turn;

pub use builder::{BuildError, Builder};
pub use filch_event_queue::Depth;
pub use filch_processors::{PoolError, ProcessorStats, QueueLengths};
pub use handle::handle::{CalledFromInside, Extension, Handle};
pub use handle::life_cycle::{ExitRef, LifeCycle, Observer, PendingCommand, ProcessDetails};
pub use handle::policy::{Door, MailboxPolicy, TellSender, Wait};
pub use handle::process_handle::{JoinError, ProcessHandle};
pub use handle::receiver::{Receiver, SendError, Undelivered};
pub use handle::submission::{NotAdmitted, Place, Start, Submission};
pub use handle::submit::{HandedBack, Refused, SubmitError};
pub use handle::threads::BoundThread;
pub use link::exit_reason::ExitReason;
pub use link::watch::{Ended, Watch};
pub use observe::info::{Activity, PendingFuture, PendingTimers, ProcessInfo, ProcessList};
pub use observe::running::{CallKind, RunningCall};
pub use observe::standstill::{Standstill, StandstillError, Verdict};
pub use observe::stats::{Stats, WorkerStats};
pub use process::command::{Completion, OpenCommand};
pub use process::context::Context;
pub use process::error::{AnyOutput, Outcome, ProcessError};
pub use process::event::{Cancel, CommandError, Event, Events};
pub use process::output::StepOutput;
pub use process::process::{InitError, Process, from_fn};
pub use protocol::Protocol;
pub use scheduler::Scheduler;
pub use table::pid::{NoSuchProcess, Node, Pid};
pub use turn::shutdown::ShutdownReport;
#[doc(hidden)] // for `filch-testing`, which shows it
pub use turn::testing;

#[doc = include_str!("../TABLE.md")]
pub mod process_table {}

#[doc = include_str!("../SIGNALS.md")]
pub mod signals {}
