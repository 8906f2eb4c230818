use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use filch_sync::Arc;

use crate::Stealer;
use crate::claim::Claim;
use crate::deque::Deque;
use crate::policy::{Lazy, Policy, Strict};
use crate::ring::{MAX_CAPACITY, Ring, Slots};

/// Slots of a deque that [`Worker::new`] makes.
const DEFAULT_CAPACITY: usize = 64;

/// The owner's end of a deque: pushes and pops at the bottom, last in, first out.
///
/// One thread at a time has it: it is [`Send`], neither [`Sync`] nor [`Clone`]. Others take from
/// the top through [`Stealer`]s. `P` says when they can see an item: always ([`Strict`]), or when
/// they ask ([`Lazy`]).
///
/// Dropping it drops the items that are left, each once; thieves in flight finish with what they
/// have claimed, and find nothing more. If the destructor of an item panics, the other items are
/// dropped nevertheless. A worker that is forgotten instead leaves its public items to the thieves,
/// and its memory is never freed.
///
/// Source: D. Chase and Y. Lev, *Dynamic Circular Work-Stealing Deque*, SPAA 2005, with the changes
/// that [`algorithm`](crate::algorithm) explains.
pub struct Worker<T, P: Policy = Strict> {
    pub(crate) deque: Arc<Deque<T>>,
    /// The newest ring.
    pub(crate) ring: Cell<NonNull<Ring<T>>>,
    /// And its slots.
    pub(crate) slots: Cell<Slots<T>>,
    /// The index of the next push.
    pub(crate) bottom: Cell<u32>,
    /// What the deque's `split` says to thieves, outside of the calls. Items from it to bottom are
    /// private.
    pub(crate) split: Cell<u32>,
    /// Where the thieves stood when the owner last reclaimed, or ran out of room: if that is
    /// `split`, nothing is public. A few capacities behind `split` at most.
    pub(crate) reached: Cell<u32>,
    /// The first index that must not be written yet: its slot may still be in use. At most a
    /// capacity after top.
    pub(crate) room_end: Cell<u32>,
    policy: PhantomData<P>,
}

// SAFETY: it is the only owner's end, whichever thread has it, and the items are `Send`. The
// `NonNull` is a ring that the deque keeps alive.
unsafe impl<T: Send, P: Policy> Send for Worker<T, P> {}

impl<T, P: Policy> Default for Worker<T, P> {
    /// An empty deque with room for 64 items.
    fn default() -> Self {
        Self::make(DEFAULT_CAPACITY, 0)
    }
}

impl<T> Worker<T> {
    /// An empty strict deque with room for 64 items. It grows when it has to.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty strict deque with room for `capacity` items, rounded up to a power of two, at least
    /// one. It grows when it has to.
    ///
    /// # Panics
    ///
    /// If `capacity` is greater than 2³⁰.
    pub fn with_capacity(capacity: usize) -> Self {
        Self::make(capacity, 0)
    }

    /// [`with_capacity`](Self::with_capacity), for tests: tag and index begin at `start`, so that
    /// they soon wrap.
    #[doc(hidden)]
    pub fn starting_at(capacity: usize, start: u32) -> Self {
        Self::make(capacity, start)
    }
}

impl<T> Worker<T, Lazy> {
    /// An empty lazy deque with room for `capacity` items, rounded up to a power of two, at least
    /// one. It grows when it has to.
    ///
    /// # Panics
    ///
    /// If `capacity` is greater than 2³⁰.
    ///
    /// ```
    /// use filch_deque::{Steal, Worker};
    ///
    /// let worker = Worker::lazy(64);
    /// worker.push('a');
    /// // Private so far; but now the owner knows that somebody wants it.
    /// assert_eq!(worker.stealer().steal(), Steal::Empty);
    /// worker.push('b');
    /// assert_eq!(worker.stealer().steal(), Steal::Success('a'));
    /// assert_eq!(worker.pop(), Some('b'));
    /// ```
    pub fn lazy(capacity: usize) -> Self {
        Self::make(capacity, 0)
    }

    /// [`lazy`](Self::lazy), for tests: tag and index begin at `start`, so that they soon wrap.
    #[doc(hidden)]
    pub fn lazy_starting_at(capacity: usize, start: u32) -> Self {
        Self::make(capacity, start)
    }
}

impl<T, P: Policy> Worker<T, P> {
    fn make(capacity: usize, start: u32) -> Self {
        let capacity = u32::try_from(capacity)
            .ok()
            .filter(|&capacity| capacity <= MAX_CAPACITY)
            .expect("a deque has room for 2^30 items at most")
            .next_power_of_two();
        let ring = Ring::allocate(capacity, start);
        Self {
            // A strict owner has always given everything: its flag stays up, and thieves need not
            // raise it.
            deque: Arc::new(Deque::new(start, ring, !P::KEEPS_PRIVATE)),
            ring: Cell::new(ring),
            // SAFETY: `allocate` returned it just now.
            slots: Cell::new(unsafe { ring.as_ref() }.slots()),
            bottom: Cell::new(start),
            split: Cell::new(start),
            reached: Cell::new(start),
            room_end: Cell::new(start.wrapping_add(capacity)),
            policy: PhantomData,
        }
    }

    /// Pushes `item` at the bottom. Thieves see it at once, or when the [`Policy`] says.
    ///
    /// Wait-free, but for the allocator when the deque must grow, or when a thief is between its
    /// claim and its last act just when the ring has turned. What the owner did before happens
    /// before the item is stolen.
    ///
    /// # Panics
    ///
    /// If the deque holds 2³⁰ items.
    #[inline]
    pub fn push(&self, item: T) {
        self.append(item);
        self.offer();
    }

    /// Pushes `items`, in order, and publishes them together: thieves see all or none (and as many
    /// as the [`Policy`] shows them). Until then they are the owner's own.
    ///
    /// If the iterator panics, then what it has given is in the deque, and published. It may use
    /// this deque itself; a push of its own publishes what came before.
    ///
    /// Wait-free for each item, as [`push`](Self::push), but for what the iterator does.
    ///
    /// # Panics
    ///
    /// If the deque would hold more than 2³⁰ items.
    ///
    /// ```
    /// use filch_deque::{Steal, Worker};
    ///
    /// let worker = Worker::new();
    /// worker.push_batch(["one", "two", "three"]);
    /// assert_eq!(worker.stealer().steal(), Steal::Success("one"));
    /// assert_eq!(worker.pop(), Some("three"));
    /// ```
    pub fn push_batch(&self, items: impl IntoIterator<Item = T>) {
        /// Publishes at the end, also when the iterator unwinds.
        struct Batch<'a, T, P: Policy>(&'a Worker<T, P>);

        impl<T, P: Policy> Drop for Batch<'_, T, P> {
            fn drop(&mut self) {
                self.0.offer();
            }
        }

        let batch = Batch(self);
        for item in items {
            batch.0.append(item);
        }
    }

    /// Pops the item that was pushed last. `None` if there is none, or if a thief took the last one
    /// first.
    ///
    /// Wait-free. A private item: no atomic read-modify-write. A public one: one, which takes back
    /// this item ([`Strict`]) or half of the public items ([`Lazy`]). None if the owner knows that
    /// the deque is empty.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        if self.private() == 0 && !self.reclaim() {
            return None;
        }
        let last = self.bottom.get().wrapping_sub(1);
        self.bottom.set(last);
        // What is popped last of the private items leaves none to share.
        if P::KEEPS_PRIVATE && self.private() > 0 && self.deque.is_hungry() {
            self.share();
        }
        // SAFETY: pushed by this end, and private: no thief has it or can get it any more.
        Some(unsafe { self.slots.get().take(last) })
    }

    /// Makes every item public. Nothing to do for a [`Strict`] deque.
    ///
    /// Wait-free: a store. For an owner with a [`Lazy`] deque that is about to block, or to run
    /// something long: what is private meanwhile is out of everybody's reach.
    ///
    /// ```
    /// use filch_deque::{Steal, Worker};
    ///
    /// let worker = Worker::lazy(64);
    /// worker.push_batch(0..4);
    /// worker.flush();
    /// let stealer = worker.stealer();
    /// let all: Vec<i32> = std::iter::from_fn(|| stealer.steal().success()).collect();
    /// assert_eq!(all, [0, 1, 2, 3]);
    /// ```
    pub fn flush(&self) {
        if self.private() > 0 {
            self.publish(self.bottom.get());
        }
    }

    /// How many items there are. Thieves may have taken some of them that the owner has not heard
    /// of.
    pub fn len(&self) -> usize {
        // The index that thieves have reached is never past bottom.
        self.bottom.get().wrapping_sub(self.deque.taken()) as usize
    }

    /// Whether there is no item. `true` is certain; `false` may be out of date, because thieves are
    /// about.
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

    // The split: `top.index..split` is public, `split..bottom` private.

    /// How many items are the owner's own.
    #[inline]
    fn private(&self) -> u32 {
        self.bottom.get().wrapping_sub(self.split.get())
    }

    /// Moves `split`, for the owner and for thieves.
    #[inline]
    fn publish(&self, split: u32) {
        self.split.set(split);
        self.deque.publish(split);
    }

    /// Shows thieves what the policy wants them to see of items that were just appended.
    #[inline]
    fn offer(&self) {
        if !P::KEEPS_PRIVATE {
            self.publish(self.bottom.get());
        } else if self.deque.is_hungry() || self.private() > 1 && self.split == self.reached {
            self.share();
        }
    }

    /// Makes the older half of the private items public (rounded up), which is all that a hungry
    /// thief can ask.
    ///
    /// If there are none, the flag stays up: the next push answers it.
    fn share(&self) {
        let private = self.private();
        if private > 0 {
            self.deque.feed();
            self.publish(self.split.get().wrapping_add(private.div_ceil(2)));
        }
    }

    /// Takes public items back from the thieves, the last one or half of them, and tells whether it
    /// got any. There must be no private ones.
    ///
    /// `split` is lowered, then the tag is bumped; the bump returns where the thieves stood. What
    /// lies between, or between `split` and where they stood, is private from now on: a claim in
    /// flight fails because of the tag, and one that begins later sees the lowered `split`. If
    /// thieves were past the lowered `split`, it is raised to where they stood. (Meanwhile it is
    /// short of them: by one they call it empty, by more they retry.)
    #[inline]
    fn reclaim(&self) -> bool {
        let split = self.split.get();
        // How much to take back is a matter of what thieves have left, so a lazy owner looks. A
        // strict one takes one item, and the bump tells it all: a load of `top` between its own
        // store and its RMW costs as much as a quarter of the pop.
        let known = if P::KEEPS_PRIVATE {
            self.deque.taken()
        } else {
            self.reached.get()
        };
        let public = split.wrapping_sub(known);
        if public == 0 {
            return false;
        }
        let count = if P::KEEPS_PRIVATE {
            public.div_ceil(2)
        } else {
            1
        };
        self.publish(split.wrapping_sub(count));
        let reached = self.deque.bump();
        self.reached.set(reached);
        let left = split.wrapping_sub(reached);
        if left < count {
            self.publish(reached);
        }
        left > 0
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

    /// Pushes what is left of a thief's claim, oldest first. There must be [`room`](Self::room) for
    /// it, since nothing may be allocated before the claim is finished.
    pub(crate) fn receive(&self, claim: Claim<T>) {
        let (slots, mut bottom) = (self.slots.get(), self.bottom.get());
        // `for_each` drops the claim when it is through, before anything is published.
        claim.for_each(|item| {
            debug_assert_ne!(bottom, self.room_end.get());
            // SAFETY: this is the owner; nothing at or past bottom is published; the thief made
            // room for the claim.
            unsafe { slots.write(bottom, item) };
            bottom = bottom.wrapping_add(1);
        });
        self.bottom.set(bottom);
        self.offer();
    }

    /// Writes `item` to the slot at bottom. It is private.
    #[inline]
    fn append(&self, item: T) {
        if self.room() == 0 {
            self.make_room(1);
        }
        let bottom = self.bottom.get();
        // SAFETY: this is the owner; nothing at or past bottom is published; there is room, so the
        // slot is free.
        unsafe { self.slots.get().write(bottom, item) };
        self.bottom.set(bottom.wrapping_add(1));
    }

    #[inline]
    pub(crate) fn ring(&self) -> &Ring<T> {
        // SAFETY: the newest ring lives as long as the deque; only `replace_ring` ends that, and
        // borrows none.
        unsafe { self.ring.get().as_ref() }
    }
}

impl<T, P: Policy> fmt::Debug for Worker<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .finish()
    }
}

impl<T, P: Policy> Drop for Worker<T, P> {
    fn drop(&mut self) {
        /// Drops what is left in the deque, also when the destructor of an item unwinds.
        struct Rest<'a, T, P: Policy>(&'a Worker<T, P>);

        impl<T, P: Policy> Drop for Rest<'_, T, P> {
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
