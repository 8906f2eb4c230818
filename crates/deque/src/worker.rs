use core::cell::Cell;
use core::fmt;
use core::ptr::NonNull;

use filch_sync::Arc;

use crate::Stealer;
use crate::claim::Claim;
use crate::deque::Deque;
use crate::ring::{MAX_CAPACITY, Ring};

/// Slots of a deque that [`Worker::new`] makes.
const DEFAULT_CAPACITY: usize = 64;

/// The owner's end of a deque: pushes and pops at the bottom, last in, first out.
///
/// One thread at a time has it: it is [`Send`], neither [`Sync`] nor [`Clone`]. Others take from the top through
/// [`Stealer`]s. Every item that was pushed and not popped is visible to them, always.
///
/// Dropping it drops the items that are left, each once; thieves in flight finish with what they have claimed, and
/// find nothing more. If the destructor of an item panics, the other items are dropped nevertheless. A worker that is
/// forgotten instead leaves its items to the thieves, and its memory is never freed.
///
/// Source: D. Chase and Y. Lev, *Dynamic Circular Work-Stealing Deque*, SPAA 2005, with the changes that
/// [`algorithm`](crate::algorithm) explains.
pub struct Worker<T> {
    deque: Arc<Deque<T>>,
    /// The newest ring.
    ring: Cell<NonNull<Ring<T>>>,
    /// The index of the next push; what `split` says to the thieves, outside of the calls.
    bottom: Cell<u32>,
    /// The first index that must not be written yet: its slot may still be in use. At most a capacity after top.
    room_end: Cell<u32>,
}

// SAFETY: it is the only owner's end, whichever thread has it, and the items are `Send`. The `NonNull` is a ring that
// the deque keeps alive.
unsafe impl<T: Send> Send for Worker<T> {}

impl<T> Default for Worker<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Worker<T> {
    /// An empty deque with room for 64 items. It grows when it has to.
    pub fn new() -> Self {
        Self::with_capacity(DEFAULT_CAPACITY)
    }

    /// An empty deque with room for `capacity` items, rounded up to a power of two, at least one. It grows when it
    /// has to and never shrinks.
    ///
    /// # Panics
    ///
    /// If `capacity` is greater than 2³⁰.
    pub fn with_capacity(capacity: usize) -> Self {
        Self::starting_at(capacity, 0)
    }

    /// [`with_capacity`](Self::with_capacity), for tests: tag and index begin at `start`, so that they soon wrap.
    #[doc(hidden)]
    pub fn starting_at(capacity: usize, start: u32) -> Self {
        let capacity = u32::try_from(capacity)
            .ok()
            .filter(|&capacity| capacity <= MAX_CAPACITY)
            .expect("a deque has room for 2^30 items at most")
            .next_power_of_two();
        let ring = Ring::allocate(capacity, start);
        Self {
            deque: Arc::new(Deque::new(start, ring)),
            ring: Cell::new(ring),
            bottom: Cell::new(start),
            room_end: Cell::new(start.wrapping_add(capacity)),
        }
    }

    /// Pushes `item` at the bottom, visible to thieves at once.
    ///
    /// Wait-free, but for the allocator when the deque must grow, or when a thief is between its claim and its last act just
    /// when the ring has turned. What the owner did before happens before the item is stolen.
    ///
    /// # Panics
    ///
    /// If the deque holds 2³⁰ items.
    #[inline]
    pub fn push(&self, item: T) {
        if self.room() == 0 {
            self.make_room(1);
        }
        // SAFETY: there is room: `bottom` is not published and its slot is free.
        unsafe { self.write(0, item) };
        self.expose(1);
    }

    /// Pops the item that was pushed last. `None` if there is none, or if a thief took the last one first.
    ///
    /// Wait-free: one atomic read-modify-write, or none if the deque is seen to be empty.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let last = self.reclaim()?;
        // SAFETY: pushed by this end and reclaimed: no thief has it or can get it any more.
        Some(unsafe { self.ring().take(last) })
    }

    /// How many items there are. Thieves may have taken some of them that the owner has not heard of.
    pub fn len(&self) -> usize {
        // The index that thieves have reached is never past bottom.
        self.bottom.get().wrapping_sub(self.deque.taken()) as usize
    }

    /// Whether there is no item. `true` is certain; `false` may be out of date, because thieves are about.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.deque.taken() == self.bottom.get()
    }

    /// How many items there is memory for, in the newest ring.
    pub fn capacity(&self) -> usize {
        self.ring().capacity() as usize
    }

    /// A thief's end of this deque.
    pub fn stealer(&self) -> Stealer<T> {
        Stealer::new(Arc::clone(&self.deque))
    }

    // The policy, strict: every item is public from its push to its pop. These two functions are all of it.

    /// Gives `count` items that were written from bottom on to the thieves.
    #[inline]
    fn expose(&self, count: u32) {
        let bottom = self.bottom.get().wrapping_add(count);
        self.bottom.set(bottom);
        self.deque.publish(bottom);
    }

    /// Takes the last item back from the thieves and returns its index, unless they took it.
    ///
    /// There must have been an item when the owner last looked. `split` is lowered, then the tag is bumped; the bump
    /// returns where the thieves stood. Either they had not reached the last item: a claim in flight fails because of
    /// the tag, and one that begins later sees the lowered `split`. Or they had: there is nothing left, and `split`
    /// goes back to where it was. (Thieves call one short empty too; but between two calls `split` is `bottom`.)
    #[inline]
    fn reclaim(&self) -> Option<u32> {
        let bottom = self.bottom.get();
        let last = bottom.wrapping_sub(1);
        self.deque.publish(last);
        if self.deque.bump() == bottom {
            self.deque.publish(bottom);
            return None;
        }
        self.bottom.set(last);
        Some(last)
    }

    // What stealers need of the deque that they fill.

    /// Whether this is the owner's end of `deque`.
    pub(crate) fn owns(&self, deque: &Arc<Deque<T>>) -> bool {
        Arc::ptr_eq(&self.deque, deque)
    }

    /// How many items can be written at once.
    #[inline]
    pub(crate) fn room(&self) -> u32 {
        self.room_end.get().wrapping_sub(self.bottom.get())
    }

    /// Pushes what is left of a thief's claim, oldest first. There must be [`room`](Self::room) for it.
    pub(crate) fn receive(&self, mut claim: Claim<T>) {
        let mut count = 0;
        for item in &mut claim {
            debug_assert!(count < self.room());
            // SAFETY: `steal_half_into` made room for the whole claim.
            unsafe { self.write(count, item) };
            count += 1;
        }
        drop(claim);
        if count > 0 {
            self.expose(count);
        }
    }

    /// Writes `item` to the slot of `bottom + offset`.
    ///
    /// # Safety
    ///
    /// `offset` is less than [`room`](Self::room).
    #[inline]
    unsafe fn write(&self, offset: u32, item: T) {
        let index = self.bottom.get().wrapping_add(offset);
        // SAFETY: this is the owner; at or past bottom nothing is published; before `room_end` no claim is open.
        unsafe { self.ring().write(index, item) };
    }

    #[inline]
    fn ring(&self) -> &Ring<T> {
        // SAFETY: the newest ring lives as long as the deque; only `replace_ring` ends that, and borrows none.
        unsafe { self.ring.get().as_ref() }
    }

    // Running out of room.

    /// Sees to it that `needed` items can be written: finds that thieves have finished, or replaces the ring.
    ///
    /// # Panics
    ///
    /// If the deque would hold more than 2³⁰ items. It is unchanged then.
    #[cold]
    pub(crate) fn make_room(&self, needed: u32) {
        let ring = self.ring();
        // SAFETY: this is the owner, and the newest ring.
        unsafe { ring.free_settled() };
        let finished = ring.finished();
        let taken = self.deque.taken();
        if finished == taken {
            // No claim is open: whatever lies before top has left its slot.
            self.room_end.set(taken.wrapping_add(ring.capacity()));
        }
        if self.room() < needed {
            self.replace_ring(taken, needed);
        }
    }

    /// Moves the items to a new ring. The old one is left to the thieves in the middle of a claim, and freed when
    /// the last of them has finished.
    ///
    /// `taken` is an index that thieves have reached.
    fn replace_ring(&self, taken: u32, needed: u32) {
        let old = self.ring.get();
        let bottom = self.bottom.get();
        let held = bottom.wrapping_sub(taken);
        let capacity = larger_capacity(self.ring().capacity(), held, needed);
        let new = Ring::allocate(capacity, taken);
        // SAFETY: `allocate` returned it, and nobody else has it yet.
        let ring = unsafe { new.as_ref() };
        // Copied before the deque is closed, to keep it closed for four instructions. What thieves take meanwhile was
        // copied in vain: they take it from the old ring, and nobody takes it from the new one.
        // SAFETY: this is the owner; items up to bottom were written, and there are at most `held`.
        unsafe { self.ring().copy_to(ring, taken, bottom) };
        self.deque.close(bottom);
        let base = self.deque.bump();
        // SAFETY: this is the owner; `old` was the newest ring; the deque is closed.
        unsafe { ring.supersede(old, base) };
        self.deque.set_ring(new);
        self.deque.publish(bottom);
        self.ring.set(new);
        self.room_end.set(base.wrapping_add(capacity));
        // SAFETY: this is the owner, and now the newest ring.
        unsafe { ring.free_settled() };
    }
}

/// The capacity of the ring after one of `capacity` that holds `held` items and must take `needed` more.
///
/// A ring that is at most half full was left because of a thief that had not finished: a new one of its size has room for as many
/// items again, which pays for the copying.
fn larger_capacity(capacity: u32, held: u32, needed: u32) -> u32 {
    let wanted = held
        .checked_add(needed)
        .filter(|&wanted| wanted <= MAX_CAPACITY)
        .expect("a deque has room for 2^30 items at most")
        .next_power_of_two();
    let grown = if held > capacity / 2 {
        capacity * 2
    } else {
        capacity
    };
    grown.max(wanted).min(MAX_CAPACITY)
}

impl<T> Extend<T> for Worker<T> {
    /// Pushes every item, in order.
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.push(item);
        }
    }
}

impl<T> FromIterator<T> for Worker<T> {
    /// A deque with these items, pushed in order.
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut worker = Self::new();
        worker.extend(items);
        worker
    }
}

impl<T> fmt::Debug for Worker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .finish()
    }
}

impl<T> Drop for Worker<T> {
    fn drop(&mut self) {
        /// Drops what is left in the deque, also when the destructor of an item unwinds.
        struct Rest<'a, T>(&'a Worker<T>);

        impl<T> Drop for Rest<'_, T> {
            fn drop(&mut self) {
                while let Some(item) = self.0.pop() {
                    drop(item);
                }
            }
        }

        let rest = Rest(self);
        while let Some(item) = rest.0.pop() {
            drop(item);
        }
    }
}
