//! Why a worker ended.

use std::fmt;

/// Why a worker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// Its own `run` returned.
    Finished,
    /// It was removed.
    Removed,
    /// Its scheduler, or the engine, was terminated.
    Terminated,
    /// The owner of data that it uses has destroyed it. The type of the data.
    OwnerGone(&'static str),
    /// A task that changed data panicked, and left it half changed. The type of the data.
    Poisoned(&'static str),
    /// It asked for data of its own scheduler whose owner is in another one. The type of the data.
    NotInGroup(&'static str),
    /// Its code panicked: where, and what it said.
    Panicked {
        /// A task's type, or the part of its life.
        during: &'static str,
        /// What the panic said.
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
