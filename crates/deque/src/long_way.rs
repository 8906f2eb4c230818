//! The owner's long way, on which a stop sends it in steps 1 and 2 of ALGORITHM.md: it makes room,
//! answers thieves (step 3), and decides whose the deque is (step 4).

use alloc::alloc::handle_alloc_error;
use core::alloc::Layout;

use filch_sync::asymmetric;

use crate::deque::{CLOSED, NO_FLOOR};
use crate::ring::{MAX_CAPACITY, NoMemory, Ring, capacity_for};
use crate::top::Top;
use crate::worker::Worker;

/// After a thief had to take the deque from a silent owner, it stays shared for so many pops: the
/// owner is in jobs that are long beside a pop, and a heavy fence costs more than all of these.
const WARY: u32 = 256;

impl<T> Worker<T> {
    /// Finishes a push that found a stop. It is to follow where a [`push_at`](Self::push_at) has
    /// said `false`.
    #[cold]
    #[inline(never)]
    pub fn finish_push(&self) {
        if self.position() == self.room_end.get() {
            self.make_room();
        }
        if !self.may_bias {
            return self.deque.set_stops(self.room_end.get(), NO_FLOOR);
        }
        if self.is_biased.get() {
            let top = self.deque.top();
            // If nobody has asked, it was for the room.
            if top.is_biased() && self.bias(top) {
                return;
            }
            self.share_now(top);
        }
        self.answer();
    }

    /// Takes the item at `last` off a deque that may be biased, after a stop. Returns whether it is
    /// the owner's.
    #[inline(never)]
    pub(crate) fn reclaim(&self, last: u64) -> bool {
        let known = self.reached.get();
        if known > last {
            // Empty, as before.
            self.deque.set_bottom(known);
            return false;
        }
        self.look_at_thieves(last, known, self.deque.bump().next())
    }

    /// Returns whether the item at `last` is the owner's, in the epoch that has begun with `top`,
    /// where thieves were `known` to be before.
    #[inline(never)]
    pub(crate) fn look_at_thieves(&self, last: u64, known: u64, top: Top) -> bool {
        let was_left_alone = top.until(known) == 0 && !top.is_asked() && !self.is_biased.get();
        if was_left_alone {
            match self.wary.get() {
                0 if asymmetric::is_available() => _ = self.bias(top),
                wary => self.wary.set(wary.saturating_sub(1)),
            }
            return true;
        }
        let reached = top.position(last);
        self.reached.set(reached);
        if reached > last {
            // Stolen, as all before it. Thieves are where the deque ends.
            self.deque.set_bottom(reached);
        }
        if self.may_bias && (self.is_biased.get() || top.is_asked()) {
            self.share_now(top);
            // Else the request stays: the next push is to tell the thief.
            if reached < last {
                self.answer();
            }
        }
        reached <= last
    }

    /// Puts all items in reach of thieves, and those that follow, until a pop finds that no thief
    /// has come. For an owner that will not touch its deque for a while: it spares a thief the
    /// heavy fence.
    ///
    /// Wait-free: two stores and two exchanges, or nothing atomic if it is shared.
    pub fn share(&self) {
        if self.is_biased.get() {
            self.share_now(self.deque.top());
            if !self.is_empty() {
                self.answer();
            }
        }
    }

    /// Shares the deque, which a thief may have done already, because the owner was silent.
    fn share_now(&self, top: Top) {
        if self.is_biased.replace(false) {
            if top.is_shared() {
                self.wary.set(WARY);
            }
            self.deque.move_stops_away();
            self.deque.share();
        }
    }

    /// Takes down a request, as there is something in reach for the thief that has made it.
    fn answer(&self) {
        if self.deque.answer() {
            self.was_asked.set(true);
        }
    }

    /// Makes the deque the owner's, if nothing has changed since `top`. Returns whether it is.
    ///
    /// The stops come first. So a thief that asks from then on moves these away, and no older ones.
    fn bias(&self, top: Top) -> bool {
        let reached = top.position(self.position());
        self.deque.set_stops(self.room_end.get(), reached);
        if self.deque.bias(top) {
            self.reached.set(reached);
            self.is_biased.set(true);
            return true;
        }
        // Nobody has gone by them in between.
        self.deque.move_stops_away();
        false
    }

    /// Returns whether a thief that had asked has been answered since the last call: threads that
    /// sleep want to know, whatever has become of the items. One that has not seen what was pushed
    /// has [asked](crate::Stealer::ask), and what it did before that happens before this.
    /// Wait-free.
    ///
    /// It becomes true in the long ways of a push or a pop, and where the owner shares or makes
    /// room. It speaks of a deque that may be [biased](Self::biased), and is `false` for others. A
    /// new one was asked: by thieves that slept before it was there.
    pub fn was_asked(&self) -> bool {
        self.was_asked.replace(false)
    }

    /// Asserts the invariants of ALGORITHM.md. For models, while no thief is about.
    #[cfg(loom)]
    pub fn assert_invariants(&self) {
        use crate::deque::NO_LIMIT;
        let (top, bottom, end) = (self.deque.top(), self.position(), self.room_end.get());
        let reached = top.position(bottom);
        let is_ordered = reached <= bottom && bottom < end;
        assert!(is_ordered, "invariant 1: {reached} {bottom} {end}");
        let (limit, floor) = self.deque.stops();
        let is_limit = limit == end && (top.is_biased() || !self.may_bias);
        assert!(is_limit || limit == NO_LIMIT, "invariant 2: {limit}");
        let is_floor = floor == reached && top.is_biased();
        assert!(is_floor || floor == NO_FLOOR, "invariant 2: {floor}");
        assert_eq!(self.ring().finished(), reached as u32, "invariant 3");
    }

    /// Returns how many items can be pushed and leave room for one more.
    #[inline]
    pub(crate) fn room(&self) -> u32 {
        (self.room_end.get() - self.position() - 1) as u32
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
        self.finish_push();
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
            self.finish_push();
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
        self.deque.set_bottom(CLOSED);
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
    let grown = capacity << u32::from(held > capacity / 2);
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
