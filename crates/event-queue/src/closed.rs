//! Errors: why a push was refused, and why a queue was not reopened.

use core::error::Error;
use core::fmt;

/// The event of a refused push, handed back: the queue is closed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Closed<T>(pub T);

impl<T> Closed<T> {
    /// The event that was not pushed.
    pub fn into_inner(self) -> T {
        self.0
    }
}

// By hand: an event that cannot be printed must not keep `unwrap` and `?` from its users.
impl<T> fmt::Debug for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closed(..)")
    }
}

impl<T> fmt::Display for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the event queue is closed")
    }
}

impl<T> Error for Closed<T> {}

/// The event of a refused push that was meant for one life of the queue, handed back.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PushError<T> {
    /// The queue is closed; a later life may follow.
    Closed(T),
    /// The life that the push was meant for is over, and the queue was reopened since.
    Stale(T),
}

impl<T> PushError<T> {
    /// The event that was not pushed.
    pub fn into_inner(self) -> T {
        match self {
            Self::Closed(event) | Self::Stale(event) => event,
        }
    }
}

impl<T> fmt::Debug for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed(_) => "Closed(..)",
            Self::Stale(_) => "Stale(..)",
        })
    }
}

impl<T> fmt::Display for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed(_) => "the event queue is closed",
            Self::Stale(_) => "this life of the event queue is over",
        })
    }
}

impl<T> Error for PushError<T> {}

/// The reason why a queue was not reopened. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReopenError {
    /// It is not closed.
    Open,
    /// Events are left in it, or a push that came before the close is still under way. Drain it,
    /// and try again.
    Unfinished,
}

impl fmt::Display for ReopenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "the event queue is not closed",
            Self::Unfinished => "the event queue is not emptied, or a push is under way",
        })
    }
}

impl Error for ReopenError {}
