//! A worker that cannot be added.

use std::error::Error;
use std::fmt;

use crate::request::Request;
use crate::worker::spec::Worker;

/// A worker that was refused, and the reason.
#[derive(Debug)]
pub struct AddError {
    /// The worker, unchanged.
    pub worker: Worker,
    /// The reason.
    pub reason: Unfit,
}

/// The reason why a worker cannot be added.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfit {
    /// The scheduler has been terminated.
    Terminated,
    /// A worker with its own `run` and without a fiber must be alone in its scheduler.
    NotAlone,
    /// It lists data of one type twice, or receives a type of task that it lists already.
    ListedTwice(&'static str),
    /// It receives tasks of this type, and has no `run` of its own to do so.
    NeverReceived(&'static str),
    /// Another worker of the engine owns data of this type.
    Owned(&'static str),
    /// A function takes data that the worker does not list.
    Unlisted {
        /// A task's type, or `setup`.
        function: &'static str,
        /// The data.
        data: Request,
    },
    /// Two parameters of a function exclude each other.
    Conflict {
        /// A task's type, or `setup`.
        function: &'static str,
        /// The one.
        first: Request,
        /// The other.
        second: Request,
    },
    /// A function changes data of another scheduler, which it must only read.
    ReadOnly {
        /// A task's type, or `setup`.
        function: &'static str,
        /// The data.
        data: Request,
    },
    /// `setup_owner` takes data that the worker does not own.
    NotOwn(Request),
    /// It must run after workers of this name, and these, perhaps through others, after it.
    Circle(String),
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Terminated => f.write_str("the scheduler has been terminated"),
            Self::NotAlone => f.write_str(
                "a worker with its own `run` and without a fiber must be alone in its scheduler",
            ),
            Self::ListedTwice(name) => write!(f, "it lists {name} twice"),
            Self::NeverReceived(task) => {
                write!(
                    f,
                    "it receives {task}, and has no `run` of its own that could"
                )
            }
            Self::Owned(data) => write!(f, "another worker owns {data}"),
            Self::Unlisted { function, data } => {
                write!(f, "{function} takes {data}, which the worker does not list")
            }
            Self::Conflict {
                function,
                first,
                second,
            } => write!(f, "{function} takes {first} and {second} at once"),
            Self::ReadOnly { function, data } => {
                write!(
                    f,
                    "{function} takes {data}, which is shared: it may only be read"
                )
            }
            Self::NotOwn(data) => {
                write!(
                    f,
                    "`setup_owner` takes {data}, which the worker does not own"
                )
            }
            Self::Circle(other) => write!(f, "it runs after {other}, which runs after it"),
        }
    }
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.worker.spec.name, self.reason)
    }
}

impl Error for AddError {}
