//! The number of events that wait, for people.

use core::fmt;

use crate::position::Position;

/// The number of events that wait in a queue, as far as two words say it: see
/// [`EventQueue::depth`](crate::EventQueue::depth). Its [`Display`](fmt::Display) is the number,
/// with a `+` where there may be more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depth {
    /// The least number of events.
    pub events: usize,
    /// `true` if there are no more.
    pub is_exact: bool,
}

impl Depth {
    /// Counts from the head to the tail. In one block the places tell the slots between them; the
    /// number of blocks between two others is unknown to a thread that must not look into them.
    pub(crate) fn between(head: Position, tail: Position) -> Self {
        let is_exact = head.block() == tail.block();
        let events = match is_exact {
            true => head.left().saturating_sub(tail.left()),
            // A push that brings a block takes a slot of it.
            false => head.left() + 1,
        };
        Self { events, is_exact }
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.events, if self.is_exact { "" } else { "+" })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::string::ToString;

    use crate::EventQueue;

    /// Pushes until the second block has an event, and drains. What is said never is more than
    /// there is, and exact as long as one block has all.
    #[test]
    fn as_many_as_one_block_shows() {
        let queue = EventQueue::with_blocks(3, 5);
        let depth = || queue.depth().to_string();
        assert_eq!(depth(), "0");
        let push = |count: u32| (0..count).for_each(|event| queue.push(event).unwrap());
        // SAFETY: this thread is the one consumer.
        let drain = |max| unsafe { queue.drain_up_to(max, drop) };
        push(1);
        assert_eq!(depth(), "1+", "the consumer has not come to the block yet");
        drain(1);
        assert_eq!(depth(), "0");
        push(2);
        assert_eq!(depth(), "2");
        drain(1);
        assert_eq!(depth(), "1");
        push(20);
        assert_eq!(depth(), "2+");
        while drain(7) {}
        assert_eq!(depth(), "0");
    }
}
