use std::fmt;
use std::sync::Arc;

use crate::exit::Exit;
use crate::{Pid, ProcessError, Protocol};
use filch_process_table::panic::catch_panic;

/// Why a process is over, for those who cannot have its output: its own
/// [`close`](crate::Process::close), the [hooks](crate::LifeCycle), those who watch it and those
/// who are linked to it.
///
/// Errors are told as the text of their `Display`. Cloning counts a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExitReason {
    /// It said [`done`](crate::StepOutput::done). The one *normal* reason: it ends nobody who is
    /// linked.
    Done,
    /// `step` returned this error; or a [new version](crate::Handle::upgrade) did not start, and
    /// said this.
    Failed(Arc<str>),
    /// `step` or `close` panicked with this message.
    Panicked(Arc<str>),
    /// It waited for commands with none outstanding.
    WaitsForNothing,
    /// Somebody [terminated](crate::Handle::terminate) it.
    Terminated,
    /// The patience of a shutdown ran out.
    ShutDown,
    /// A process that it was linked to, perhaps through others, did not end normally.
    Linked {
        /// The first one in the chain of links.
        origin: Pid,
        /// How that one ended: never [`Linked`](Self::Linked) itself.
        reason: Arc<ExitReason>,
    },
    /// It was never started: its `init`, or the [hook](crate::LifeCycle::on_start), refused with
    /// this message.
    NotStarted(Arc<str>),
    /// It had ended before it was watched, or linked; how, nobody knows any more.
    NoProcess,
    /// This version has been replaced by another; the process goes on. Told to
    /// [`close`](crate::Process::close) alone.
    Upgraded,
}

impl ExitReason {
    /// Whether the process ended well: [`Done`](Self::Done).
    pub fn is_normal(&self) -> bool {
        *self == Self::Done
    }

    /// Of a process that ended with `exit`.
    pub(crate) fn of<P: Protocol>(exit: &Exit<P>) -> Self {
        match exit {
            Ok(_) => Self::Done,
            // The error's `Display` is user code.
            Err(ProcessError::Failed(error)) => Self::Failed(text(|| error.to_string())),
            Err(ProcessError::Panicked(message)) => Self::Panicked(message.as_str().into()),
            Err(error @ ProcessError::Upgrade(_)) => Self::Failed(text(|| error.to_string())),
            Err(ProcessError::WaitsForNothing) => Self::WaitsForNothing,
            Err(ProcessError::ShutDown) => Self::ShutDown,
            Err(ProcessError::Terminated) => Self::Terminated,
            Err(ProcessError::Linked { origin, reason }) => Self::Linked {
                origin: *origin,
                reason: Arc::clone(reason),
            },
        }
    }

    /// Of a process that did not start because of this error.
    pub(crate) fn not_started(error: &dyn fmt::Display) -> Self {
        Self::NotStarted(text(|| error.to_string()))
    }
}

fn text(display: impl FnOnce() -> String) -> Arc<str> {
    catch_panic(display)
        .unwrap_or_else(|message| format!("an error that panics when printed: {message}"))
        .into()
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("done"),
            Self::Failed(message) => write!(f, "failed: {message}"),
            Self::Panicked(message) => write!(f, "panicked: {message}"),
            Self::WaitsForNothing => f.write_str("waited for commands with none outstanding"),
            Self::Terminated => f.write_str("terminated"),
            Self::ShutDown => f.write_str("shut down"),
            Self::Linked { origin, reason } => write!(f, "linked to {origin}, which: {reason}"),
            Self::NotStarted(message) => write!(f, "not started: {message}"),
            Self::NoProcess => f.write_str("no such process"),
            Self::Upgraded => f.write_str("replaced by a new version"),
        }
    }
}
