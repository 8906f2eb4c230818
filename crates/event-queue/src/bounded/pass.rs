//! One pass of the consumer over the places that were claimed when it began.

use crate::bounded::position::{Laps, Position};
use crate::bounded::ring::Slot;

/// Where a pass stands. Plain data; the consumer's alone.
///
/// The pass looks at each place in `[head, limit)` once, in claiming order, takes those that are
/// full and passes over the rest.
pub(crate) struct Pass<T> {
    /// The next place to look at.
    at: Position,
    /// Where the tail was when the pass began.
    limit: Position,
    /// The ring's first slot; null if no place was claimed.
    slots: *const Slot<T>,
}

impl<T> Pass<T> {
    /// From the oldest place that is not released up to the tail.
    pub(crate) const fn new(head: Position, limit: Position, slots: *const Slot<T>) -> Self {
        Self {
            at: head,
            limit,
            slots,
        }
    }

    /// The ring's first slot.
    pub(crate) const fn slots(&self) -> *const Slot<T> {
        self.slots
    }

    /// The next full slot's value. `head` is the oldest place that is not emptied, and is moved
    /// along: the slots before it are no longer touched.
    ///
    /// # Safety
    /// The caller is the consumer; `limit` was acquired from the tail, `slots` are those of the
    /// ring that `laps` describes, and since the pass began nobody but this function has moved the
    /// head or emptied a slot.
    pub(crate) unsafe fn next(&mut self, laps: Laps, head: &mut Position) -> Option<T> {
        while self.at != self.limit {
            let place = self.at;
            self.at = laps.next(place);
            // SAFETY: a claimed place: the ring is allocated, and the index lies in it.
            let slot = unsafe { &*self.slots.add(laps.index(place)) };
            // SAFETY: here and below: the caller is the consumer.
            if unsafe { slot.is_taken() } {
                if place == *head {
                    // SAFETY: as above.
                    unsafe { slot.set_taken(false) };
                    *head = self.at;
                }
            } else if slot.is_full(laps.full_mark(place)) {
                // Noted before the value moves out, so that it moves out once.
                if place == *head {
                    *head = self.at;
                } else {
                    // SAFETY: as above.
                    unsafe { slot.set_taken(true) };
                }
                // SAFETY: the caller is the consumer; full and not taken.
                return Some(unsafe { slot.empty() });
            }
        }
        None
    }
}
