//! The reason why there was no event.

use core::error::Error;
use core::fmt;

/// The reason why a receiver has no event to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvError {
    /// None is there now, or none came in time. One may still come.
    Empty,
    /// None is there, and none can come: the queue is closed, or no sender is left.
    Disconnected,
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the event queue is empty",
            Self::Disconnected => "the event queue is empty, and closed or without senders",
        })
    }
}

impl Error for RecvError {}
