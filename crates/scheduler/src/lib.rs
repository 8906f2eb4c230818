#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod admission;
mod bond;
mod command;
mod contain;
mod context;
#[expect(
    unsafe_code,
    reason = "touches the body of the process that the worker has"
)]
mod driver;
mod error;
mod event;
#[expect(
    unsafe_code,
    reason = "hands the exit from the worker to the handle, in the slot"
)]
mod exit;
mod exit_reason;
mod figures;
mod handle;
mod hooks;
mod mailbox;
mod options;
mod pid;
mod process;
mod protocol;
mod report;
#[expect(unsafe_code, reason = "keeps a value of a forgotten type in place")]
mod resident;
mod route;
mod scheduler;
mod shutdown;
mod signal;
mod stats;
mod step_output;
#[expect(
    unsafe_code,
    reason = "puts the body of the process that is being submitted into its slot"
)]
mod submit;
#[expect(unsafe_code, reason = "owns the slots")]
mod table;
mod upgrade;

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
pub use filch_processors::{ProcessorStats, StartError};
pub use handle::Handle;
pub use hooks::LifeCycle;
pub use options::Submission;
pub use pid::Pid;
pub use process::Process;
pub use protocol::Protocol;
pub use report::{Activity, ProcessInfo, Standstill, StandstillError, Verdict};
pub use scheduler::{Builder, Scheduler};
pub use shutdown::ShutdownReport;
pub use stats::{Stats, WorkerStats};
pub use step_output::StepOutput;
pub use upgrade::UpgradeError;

#[doc = include_str!("../SIGNALS.md")]
pub mod signals {}
