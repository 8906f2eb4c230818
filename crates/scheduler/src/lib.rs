#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod backlog;
mod blocking;
mod body;
mod bond;
mod child;
#[expect(unsafe_code, reason = "shares a pin, and gives it back")]
mod command;
/// As the timers call it.
mod contain {
    pub(crate) use filch_process_table::panic::{
        catch_panic as contain, drop_contained as dispose,
    };
}
mod context;
#[expect(
    unsafe_code,
    reason = "touches the body of the process that the worker has"
)]
mod driver;
pub mod dynamic;
mod error;
mod event;
#[expect(unsafe_code, reason = "has the handle's right to the exit")]
mod exit;
mod exit_reason;
#[expect(
    unsafe_code,
    reason = "says who has a future's stage, its process or its handle"
)]
mod future;
mod handle;
mod hooks;
mod mail;
mod names;
mod options;
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
mod thread;
pub mod timers;
mod transport;
mod upgrade;

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
pub use filch_process_table::{Node, Pid};
pub use filch_processors::{Dump, ProcessorStats, ReserveError, StartError};
pub use future::{JoinHandle, SpawnError};
pub use handle::Handle;
pub use hooks::LifeCycle;
pub use names::RegisterError;
pub use options::Submission;
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
