//! The reasons why a supervisor did not start, ended, or did not add a child.

use std::error::Error;
use std::fmt;

use filch_scheduler::HandedBack;

use crate::plan::event::Failure;
use crate::plan::request::ChildError;

/// The supervisor has ended without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Gone;

impl From<Gone> for ChildError {
    fn from(_: Gone) -> Self {
        Self::Stopping
    }
}

/// The end of a supervisor that nobody asked for, or the reason why it did not start.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SupervisorError {
    /// It ended by itself.
    Failed(Failure),
    /// Two of its first children have this name.
    NameTaken(Box<str>),
    /// Its own process was not started, for the scheduler's reason.
    NotStarted(Box<str>),
    /// It was asked to end before all children had been started.
    Stopped,
    /// Its process was ended from outside, and its children with it.
    Terminated,
}

impl From<Gone> for SupervisorError {
    fn from(_: Gone) -> Self {
        Self::Terminated
    }
}

impl From<Failure> for SupervisorError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl fmt::Display for SupervisorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(failure) => failure.fmt(f),
            Self::NameTaken(name) => write!(f, "two children have the name `{name}`"),
            Self::NotStarted(reason) => write!(f, "the supervisor did not start: {reason}"),
            Self::Stopped => f.write_str("the supervisor was stopped before it had begun"),
            Self::Terminated => f.write_str("the supervisor was ended from outside"),
        }
    }
}

impl Error for SupervisorError {}

/// The reason why a child was not started at run time, and the child, unless the supervisor is
/// still ending it, or has gone.
pub struct NotAdded<C> {
    /// The reason.
    pub error: ChildError,
    /// The child.
    pub child: Option<HandedBack<C>>,
}

impl<C> From<Gone> for NotAdded<C> {
    fn from(gone: Gone) -> Self {
        Self {
            error: gone.into(),
            child: None,
        }
    }
}

impl<C> fmt::Display for NotAdded<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<C> fmt::Debug for NotAdded<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NotAdded({self})")
    }
}

impl<C> Error for NotAdded<C> {}
