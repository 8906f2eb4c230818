//! The reason why a worker ended.

use std::fmt;

/// The reason why a worker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// Its own `run` returned.
    Finished,
    /// It was removed.
    Removed,
    /// Its scheduler, or the engine, was terminated.
    Terminated,
    /// The owner destroyed data, of this type, that it uses.
    OwnerGone(&'static str),
    /// A task panicked while it changed data of this type, and left it half changed.
    Poisoned(&'static str),
    /// It lists data of this type as its own scheduler's, and the owner is in another one.
    NotInGroup(&'static str),
    /// Its code panicked.
    Panicked {
        /// The task's type, or the part of the worker's life.
        during: &'static str,
        /// The message of the panic.
        message: String,
    },
    /// There was no memory for its stack.
    NoStack,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished => f.write_str("it has finished"),
            Self::Removed => f.write_str("it was removed"),
            Self::Terminated => f.write_str("its scheduler was terminated"),
            Self::OwnerGone(data) => write!(f, "the owner of {data} has ended"),
            Self::Poisoned(data) => write!(f, "a task panicked while it changed {data}"),
            Self::NotInGroup(data) => write!(f, "the owner of {data} is in another scheduler"),
            Self::Panicked { during, message } => write!(f, "it panicked in {during}: {message}"),
            Self::NoStack => f.write_str("there was no memory for its stack"),
        }
    }
}
