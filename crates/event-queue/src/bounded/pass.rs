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
    /// along, over what was emptied before its turn too: the slots before it are no longer touched.
    ///
    /// # Safety
    /// The caller is the consumer; `limit` was acquired from the tail, `slots` are those of the
    /// ring that `laps` describes, and since the pass began nobody but this function has moved the
    /// head or emptied a slot. The slot at `head` is not taken.
    pub(crate) unsafe fn next(&mut self, laps: Laps, head: &mut Position) -> Option<T> {
        while self.at != self.limit {
            let place = self.at;
            self.at = laps.next(place);
            // SAFETY: a claimed place: the ring is allocated, and the index lies in it.
            let slot = unsafe { &*self.slots.add(laps.index(place)) };
            // SAFETY: the caller is the consumer.
            if unsafe { slot.is_taken() } || !slot.is_full(laps.full_mark(place)) {
                continue;
            }
            if place != *head {
                // SAFETY: as above.
                unsafe { slot.set_taken(true) };
            } else {
                // Nothing is taken from the limit on: the slot there, which a producer writes next,
                // need not be looked at.
                if self.at != self.limit {
                    // SAFETY: as above; the slot at the head is full, and `self.at` is the next.
                    self.at = unsafe { clear_taken(self.slots, laps, self.at) };
                }
                *head = self.at;
            }
            // SAFETY: the caller is the consumer; full and not taken.
            return Some(unsafe { slot.empty() });
        }
        None
    }
}

/// The first place from `place` on that was not taken before its turn. Of those before it, whose
/// turn has come, the note is cleared; the caller releases them.
///
/// The head moves to the result of this, or to where nothing is claimed: so the slot at the head is
/// never a taken one, and every slot whose event was taken is released as soon as all before it
/// are.
///
/// # Safety
/// The caller is the consumer; `slots` are those of the ring that `laps` describes; `place` is the
/// one behind the head, whose slot is not taken (there the walk ends, if it goes all the way
/// round).
pub(crate) unsafe fn clear_taken<T>(
    slots: *const Slot<T>,
    laps: Laps,
    mut place: Position,
) -> Position {
    loop {
        // SAFETY: the ring is allocated, and the index lies in it.
        let slot = unsafe { &*slots.add(laps.index(place)) };
        // SAFETY: the caller is the consumer.
        if !unsafe { slot.is_taken() } {
            return place;
        }
        // SAFETY: as above.
        unsafe { slot.set_taken(false) };
        place = laps.next(place);
    }
}
