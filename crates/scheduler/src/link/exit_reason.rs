//! The reasons for the end of a process, for those that cannot have its output.

use std::fmt;
use std::sync::Arc;

use filch_sync::panic::catch_panic;

use crate::table::pid::{ENDED, Pid};

/// The reason for the end of a process, as its `close`, the hooks and the processes that watch it
/// or are linked to it are told.
///
/// Errors are told as the text of their `Display`. A clone counts a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExitReason {
    /// It said `done`. The one *normal* reason, which ends no linked process.
    Done,
    /// `step` returned this error; or a new version did not start, with this message.
    Failed(Arc<str>),
    /// `step` or `close` panicked with this message, which ends with the process.
    Panicked(Arc<str>),
    /// It waited for commands with none outstanding.
    WaitsForNothing,
    /// It was terminated.
    Terminated,
    /// The patience of a shutdown ran out.
    ShutDown,
    /// A process that it was linked to, perhaps through others, did not end normally.
    Linked {
        /// The first process in the chain of links.
        origin: Pid,
        /// The reason for the end of that process: never [`Linked`](Self::Linked) itself.
        reason: Arc<ExitReason>,
    },
    /// It was never started: its `init`, or the hook, refused with this message.
    NotStarted(Arc<str>),
    /// It was not started in time, for its supervisor, and ends before its first step.
    StartTimedOut,
    /// It had ended before it was watched or linked, and its reason is no longer known.
    NoSuchProcess,
    /// A new version replaces this one, and the process goes on. Told to `close` alone.
    Upgraded,
}

impl ExitReason {
    /// Checks if the process ended well: [`Done`](Self::Done).
    pub fn is_normal(&self) -> bool {
        *self == Self::Done
    }

    /// Makes the reason of a process that failed with this error.
    pub fn failed(error: &dyn fmt::Display) -> Self {
        Self::Failed(text(error))
    }

    /// Makes the reason of a process that did not start because of this error.
    pub fn not_started(error: &dyn fmt::Display) -> Self {
        Self::NotStarted(text(error))
    }
}

/// Prints an error, whose `Display` is user code and may panic.
fn text(error: &dyn fmt::Display) -> Arc<str> {
    catch_panic(|| error.to_string())
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
            Self::StartTimedOut => f.write_str("not started in time"),
            Self::NoSuchProcess => write!(f, "no such process: it {ENDED}"),
            Self::Upgraded => f.write_str("replaced by a new version"),
        }
    }
}
