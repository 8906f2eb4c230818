#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod admission;
mod backlog;
mod blocking;
mod bond;
mod child;
mod command;
mod contain;
mod context;
#[expect(
    unsafe_code,
    reason = "touches the body of the process that the worker has"
)]
mod driver;
pub mod dynamic;
#[expect(unsafe_code, reason = "ends the process that the worker has")]
mod ending;
mod error;
mod event;
#[expect(unsafe_code, reason = "has the handle's right to the exit")]
mod exit;
mod exit_reason;
mod figures;
#[expect(
    unsafe_code,
    reason = "says who has a future's stage, its process or its handle"
)]
mod future;
mod handle;
mod hooks;
#[expect(
    unsafe_code,
    reason = "hands the body from worker to worker, and the exit to the handle"
)]
mod life;
mod mail;
mod mailbox;
mod names;
#[cfg(loom)]
#[doc(hidden)] // public for the models
#[expect(unsafe_code, reason = "does with a slot what its users do")]
pub mod occupants;
mod options;
mod pid;
mod process;
#[doc(hidden)] // public for the models, which check the protocol by itself
#[expect(unsafe_code, reason = "value and waker change hands by the state")]
pub mod promise;
mod protocol;
mod report;
#[expect(unsafe_code, reason = "keeps a value of a forgotten type in place")]
mod resident;
mod route;
mod scheduler;
#[expect(
    unsafe_code,
    reason = "shrinks the queue of the process that the worker has"
)]
mod share;
mod shutdown;
mod signal;
mod staff;
#[expect(unsafe_code, reason = "pins a future, and hands its output on")]
mod stage;
mod stats;
mod step_output;
#[expect(
    unsafe_code,
    reason = "puts the body of the process that is being submitted into its slot"
)]
mod submit;
#[expect(unsafe_code, reason = "owns the slots")]
mod table;
mod thread;
pub mod timers;
mod transport;
mod upgrade;
#[doc(hidden)] // public for the models
pub mod urgency;

pub use blocking::BlockingThreads;
pub use bond::{Down, Exited, Link, Monitor};
pub use command::{CommandHandler, Completion};
pub use context::Context;
pub use error::{
    BuildError, CalledFromInside, CommandError, ExecuteError, HookError, InitError, JoinError,
    NoSuchProcess, ProcessError, Refused, SendError, SubmitError, Undelivered,
};
pub use event::{Event, Events};
pub use exit::ProcessHandle;
pub use exit_reason::ExitReason;
pub use filch_processors::{Dump, ProcessorStats, ReserveError, StartError};
pub use future::{JoinHandle, SpawnError};
pub use handle::Handle;
pub use hooks::LifeCycle;
pub use names::RegisterError;
pub use options::Submission;
pub use pid::{Node, Pid};
pub use process::Process;
pub use protocol::Protocol;
pub use report::{Activity, ProcessInfo, Standstill, StandstillError, Verdict};
pub use scheduler::{Builder, Scheduler};
pub use shutdown::ShutdownReport;
pub use stats::{Stats, WorkerStats};
pub use step_output::StepOutput;
pub use thread::BoundThread;
pub use transport::{ConnectError, Receiver};
pub use upgrade::UpgradeError;

#[doc = include_str!("../SIGNALS.md")]
pub mod signals {}
