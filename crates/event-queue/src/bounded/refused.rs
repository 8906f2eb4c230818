use core::error::Error;
use core::fmt;

/// Why a bounded queue refused a push, with the event handed back.
///
/// # Examples
/// ```
/// use core::num::NonZeroU32;
/// use filch_event_queue::{Refused, bounded_channel};
///
/// let (sender, receiver) = bounded_channel(NonZeroU32::MIN);
/// sender.push("first").unwrap();
/// assert_eq!(sender.push("second"), Err(Refused::Full("second")));
/// drop(receiver);
/// assert_eq!(sender.push("third"), Err(Refused::Closed("third")));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Refused<T> {
    /// There was no room: at some moment of the call the whole capacity was in use. It may be worth
    /// another try once the consumer has run.
    Full(T),
    /// The queue is closed. No later push to this life of it succeeds.
    Closed(T),
}

impl<T> Refused<T> {
    /// The event that was not pushed.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(event) | Self::Closed(event) => event,
        }
    }

    /// Whether the reason is a lack of room.
    pub const fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// Whether the reason is that the queue is closed.
    pub const fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }
}

// By hand: an event that cannot be printed must not keep `unwrap` and `?` from its users.
impl<T> fmt::Debug for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

impl<T> fmt::Display for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "the event queue is full",
            Self::Closed(_) => "the event queue is closed",
        })
    }
}

impl<T> Error for Refused<T> {}
