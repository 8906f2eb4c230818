//! Running out of room, and giving memory back.

use alloc::alloc::handle_alloc_error;
use core::alloc::Layout;

use crate::ring::{MAX_CAPACITY, NoMemory, Ring, capacity_for};
use crate::worker::Worker;

impl<T> Worker<T> {
    /// Returns how many items can be pushed and leave room for one more.
    #[inline]
    pub(crate) fn room(&self) -> u32 {
        (self.room_end.get() - self.position() - 1) as u32
    }

    /// Makes room for `additional` items: the pushes that follow allocate nothing, until there are
    /// so many more.
    ///
    /// Wait-free, unless it has to allocate, as [`push`](Self::push) would.
    ///
    /// # Errors
    ///
    /// [`NoMemory`], where `push` ends the program.
    ///
    /// # Panics
    ///
    /// If the deque would hold 2²⁸ items.
    ///
    /// ```
    /// use filch_deque::Worker;
    ///
    /// let worker = Worker::with_capacity(2);
    /// worker.try_reserve(3)?;
    /// worker.push_batch([1, 2, 3]);
    /// assert_eq!(worker.capacity(), 4);
    /// # Ok::<(), filch_deque::NoMemory>(())
    /// ```
    #[inline]
    pub fn try_reserve(&self, additional: usize) -> Result<(), NoMemory> {
        if self.room_end.get() - self.position() > additional as u64 {
            return Ok(());
        }
        let most = MAX_CAPACITY as usize;
        self.try_make_room(additional.min(most) as u32 + 1)
    }

    /// Makes room for one item more, as the last slot was taken.
    pub(crate) fn make_room(&self) {
        if self.len() >= MAX_CAPACITY as usize {
            drop(self.pop());
            panic!("a deque holds less than 2^28 items");
        }
        if self.find_room(1).is_err() {
            handle_alloc_error(Layout::new::<T>());
        }
    }

    /// Makes room for `needed` items.
    ///
    /// # Panics
    ///
    /// If the deque would hold more than 2²⁸ items. It is unchanged then.
    #[cold]
    pub(crate) fn try_make_room(&self, needed: u32) -> Result<(), NoMemory> {
        let found = self.find_room(needed);
        // The stop of pushes is another one.
        self.settle();
        found
    }

    /// Finds that thieves have finished, or replaces the ring.
    ///
    /// It begins an epoch, once a turn of the ring at least: so no index comes back in one epoch.
    fn find_room(&self, needed: u32) -> Result<(), NoMemory> {
        let ring = self.ring();
        // SAFETY: this is the owner, and the newest ring.
        unsafe { ring.free_settled() };
        let finished = ring.finished();
        let reached = self.deque.bump().position(self.position());
        let capacity = ring.capacity();
        if finished == reached as u32 {
            // No claim is open: every item before top has left its slot.
            self.room_end.set(reached + u64::from(capacity));
        }
        if self.room_end.get() - self.position() >= u64::from(needed) {
            return Ok(());
        }
        let held = (self.position() - reached) as u32;
        self.replace_ring(reached, larger_capacity(capacity, held, needed))
    }

    /// Gives memory back after a burst: the capacity becomes the smallest power of two that has a
    /// slot more than there are items, and is at least `capacity`; unless it is no larger than that
    /// already, or there is no memory for the smaller ring.
    ///
    /// The items are copied, and steals in flight fail. The old ring is freed at once if no thief
    /// is in the middle of a steal. Otherwise it is freed when the new one runs out of room, if the
    /// thieves have finished by then, or with the deque.
    ///
    /// ```
    /// use filch_deque::Worker;
    ///
    /// let worker: Worker<_> = (0..1_000).collect();
    /// while worker.len() > 3 {
    ///     worker.pop();
    /// }
    /// worker.shrink_to(16);
    /// assert_eq!((worker.len(), worker.capacity()), (3, 16));
    /// ```
    pub fn shrink_to(&self, capacity: usize) {
        let reached = self.deque.top().position(self.position());
        let held = (self.position() - reached) as usize;
        let wanted = capacity.max(held + 1);
        if wanted <= self.capacity() / 2 {
            // Without memory for it the larger ring stays.
            let _ = self.replace_ring(reached, (wanted as u32).next_power_of_two());
            self.settle();
        }
    }

    /// Moves the items to a new ring of `capacity`. The old one is kept for thieves in the middle
    /// of a claim, and freed when the last of them has finished.
    ///
    /// `reached` is a position that thieves have reached; the items after it fit.
    fn replace_ring(&self, reached: u64, capacity: u32) -> Result<(), NoMemory> {
        let old = self.ring.get();
        let bottom = self.position();
        let new = Ring::allocate(capacity, reached as u32)?;
        // SAFETY: `allocate` returned it, and no other thread has it yet.
        let ring = unsafe { new.as_ref() };
        let slots = ring.slots();
        // Copied before the deque is closed, to keep it closed for a few instructions. Items that
        // thieves take meanwhile are copied in vain: thieves take them from the old ring, and no
        // thread takes them from the new one. SAFETY: this is the owner of both rings, and nothing
        // of the new one is published; items up to bottom were written, and they fit.
        unsafe {
            let (first, count) = (reached as u32, (bottom - reached) as u32);
            self.slots.get().copy_to(first, count, slots, first);
        }
        self.deque.close();
        let base = self.deque.bump().position(bottom);
        // SAFETY: this is the owner; `old` was the newest ring; the deque is closed.
        unsafe { ring.supersede(old, base as u32) };
        self.deque.set_ring(new);
        self.deque.set_bottom(bottom);
        self.ring.set(new);
        self.slots.set(slots);
        self.room_end.set(base + u64::from(capacity));
        // SAFETY: this is the owner, and now the newest ring.
        unsafe { ring.free_settled() };
        Ok(())
    }
}

/// The capacity of the successor of a ring of `capacity` that holds `held` items and must take
/// `needed` more.
///
/// A ring that is at most half full is replaced because a thief has not finished. A new one of its
/// size has room for as many items as were copied, which pays for the copying.
fn larger_capacity(capacity: u32, held: u32, needed: u32) -> u32 {
    let wanted = capacity_for(held.checked_add(needed));
    let grown = if held > capacity / 2 {
        capacity * 2
    } else {
        capacity
    };
    grown.max(wanted).min(MAX_CAPACITY)
}

#[cfg(test)]
mod tests {
    use super::{MAX_CAPACITY, larger_capacity};

    #[test]
    fn a_ring_grows_up_to_the_largest() {
        assert_eq!(larger_capacity(8, 4, 1), 8);
        assert_eq!(larger_capacity(8, 5, 1), 16);
        assert_eq!(larger_capacity(8, 0, 100), 128);
        let half = MAX_CAPACITY / 2;
        assert_eq!(larger_capacity(half, half, half), MAX_CAPACITY);
        assert_eq!(larger_capacity(MAX_CAPACITY, half + 1, 1), MAX_CAPACITY);
    }

    #[test]
    #[should_panic(expected = "2^28")]
    fn one_item_more_is_refused() {
        larger_capacity(MAX_CAPACITY, MAX_CAPACITY, 1);
    }
}
