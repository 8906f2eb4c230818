//! Why a supervisor ended that was not asked to.

use std::error::Error;
use std::fmt;

use filch_scheduler::ExitReason;

use crate::plan::child_id::ChildRef;

/// Why a supervisor ended that was not asked to. Its children were ended before.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// When it began, this child did not start.
    NotStarted {
        /// Which one.
        child: ChildRef,
        /// Why.
        reason: ExitReason,
    },
    /// Its children failed more often than it allows. This one was the last.
    TooManyFailures {
        /// Which one.
        child: ChildRef,
        /// How it ended, or why it did not start again.
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
