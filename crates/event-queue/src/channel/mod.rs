//! The safe pair of ends: any number of senders, one receiver, which may sleep.

mod adaptive_delay;
#[cfg(not(target_os = "none"))]
mod blocking;
mod receiver;
mod sender;
mod shared;
#[cfg(test)]
mod tests;

use core::error::Error;
use core::fmt;

use filch_sync::Arc;

pub use self::receiver::Receiver;
pub use self::sender::Sender;
use self::shared::Shared;

/// Creates a queue and its two ends. Allocates the queue itself, and no room for events.
///
/// The queue is freed with its last end. The receiver closes it when dropped. The last sender does
/// not: the receiver can [make](Receiver::sender) another one. But a receiver that waits is told,
/// as nothing can come while it does.
#[doc(alias = "mpsc")]
#[doc(alias = "unbounded")]
#[doc(alias = "unbounded_channel")]
pub fn channel<T: Send>() -> (Sender<T>, Receiver<T>) {
    let receiver = Receiver::new(Arc::new(Shared::new()));
    (receiver.sender(), receiver)
}

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
