//! The reason why a supervisor ended by itself.

use std::error::Error;
use std::fmt;

use filch_scheduler::ExitReason;

use crate::plan::child_id::ChildRef;

/// The reason why a supervisor ended by itself. It has ended its children before.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// This child did not start when the supervisor began.
    NotStarted {
        /// The child.
        child: ChildRef,
        /// The reason.
        reason: ExitReason,
    },
    /// Its children failed more often than it allows.
    TooManyFailures {
        /// The last child that failed.
        child: ChildRef,
        /// The reason of its end, or why it did not start again.
        reason: ExitReason,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted { child, reason } => {
                write!(f, "the child {child} did not start: {reason}")
            }
            Self::TooManyFailures { child, reason } => {
                write!(
                    f,
                    "children failed too often, the last one was {child}: {reason}"
                )
            }
        }
    }
}

impl Error for Failure {}
