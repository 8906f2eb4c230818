//! The owner's end.

use alloc::alloc::handle_alloc_error;
use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use filch_sync::{Arc, drop_each};

use crate::deque::Deque;
use crate::policy::{MAX_PRIVATE, Policy, Strict};
use crate::ring::{Ring, Slots, capacity_for};

/// The slots of a deque that [`Worker::new`] makes.
const DEFAULT_CAPACITY: usize = 64;

/// Added to the first position: see [`Stops`](crate::stops::Stops).
const FIRST_LAP: u64 = 1 << 32;

/// The owner's end of a deque: pushes and pops at the bottom, last in, first out.
///
/// One thread at a time has it: it is [`Send`], neither [`Sync`] nor [`Clone`]. Thieves take from
/// the top through [`Stealer`](crate::Stealer)s. `P` says when they can see an item: always
/// ([`Strict`]), or when they ask ([`Lazy`](crate::Lazy)).
///
/// To drop it drops the items that are left, each once. Thieves in flight finish with what they
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
    /// Its slots.
    pub(crate) slots: Cell<Slots<T>>,
    /// Where the next push goes. Its lower half is the index, `bottom`.
    pub(crate) position: Cell<u64>,
    /// The deque's `split` as thieves see it, outside of the calls. Items from it to bottom are
    /// private.
    pub(crate) split: Cell<u32>,
    /// The index that thieves had reached when the owner last reclaimed, or ran out of room. A
    /// strict owner's: if it is `split`, nothing is public. It is a few capacities behind `split`
    /// at most.
    pub(crate) reached: Cell<u32>,
    /// The first index that must not be written yet, because its slot may be in use. It is at most
    /// a capacity after top.
    pub(crate) room_end: Cell<u32>,
    /// Whether a lazy owner has made items public, and was not asked since.
    pub(crate) has_published: Cell<bool>,
    /// The most items that a lazy owner keeps private between its calls.
    pub(crate) max_private: u8,
    /// Called with each item that a lazy owner makes public, before.
    pub(crate) prepare: Option<fn(&T)>,
    policy: PhantomData<P>,
}

// SAFETY: it is the only owner's end, on whatever thread, and the items are `Send`. The `NonNull`
// is a ring that the deque keeps alive.
unsafe impl<T: Send, P: Policy> Send for Worker<T, P> {}

impl<T, P: Policy> Default for Worker<T, P> {
    /// An empty deque with room for 64 items.
    fn default() -> Self {
        Self::make(DEFAULT_CAPACITY, 0)
    }
}

impl<T> Worker<T> {
    /// An empty strict deque with room for 64 items. It grows when it must.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty strict deque with room for `capacity` items, rounded up to a power of two, at least
    /// one. It grows when it must.
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

impl<T, P: Policy> Worker<T, P> {
    pub(crate) fn make(capacity: usize, start: u32) -> Self {
        let capacity = capacity_for(u32::try_from(capacity).ok());
        let Ok(ring) = Ring::allocate(capacity, start) else {
            handle_alloc_error(Layout::new::<T>())
        };
        let position = FIRST_LAP | u64::from(start);
        Self {
            deque: Arc::new(Deque::new(start, ring, P::KEEPS_PRIVATE)),
            ring: Cell::new(ring),
            // SAFETY: `allocate` returned it just now.
            slots: Cell::new(unsafe { ring.as_ref() }.slots()),
            position: Cell::new(position),
            split: Cell::new(start),
            reached: Cell::new(start),
            room_end: Cell::new(start.wrapping_add(capacity)),
            has_published: Cell::new(false),
            max_private: MAX_PRIVATE,
            prepare: None,
            policy: PhantomData,
        }
    }

    /// Pushes `item` at the bottom. Thieves see it at once, or when the [`Policy`] says.
    ///
    /// Wait-free, unless it has to allocate: when the deque must grow, or when the ring has come
    /// full circle while a thief is in the middle of a steal. What the owner did before happens
    /// before the item is stolen.
    ///
    /// # Panics
    ///
    /// If the deque holds 2³⁰ items.
    #[inline]
    pub fn push(&self, item: T) {
        if !P::KEEPS_PRIVATE {
            self.append(item);
            self.offer();
        } else if self.deque.stops.allow_push(self.position.get()) {
            // SAFETY: there is room: `limit` is not past the end of it.
            unsafe { self.write(item) };
        } else {
            self.push_with_care(item);
        }
    }

    #[cold]
    #[inline(never)]
    fn push_with_care(&self, item: T) {
        self.append(item);
        self.offer();
    }

    /// Pushes `items` in order, and publishes them together: thieves see none of them before the
    /// last was pushed, and then as many as the [`Policy`] shows.
    ///
    /// If the iterator panics, the items that it gave are in the deque, and published. The iterator
    /// may use this deque; a push in it publishes what came before.
    ///
    /// Wait-free for each item, as [`push`](Self::push) is, apart from what the iterator does.
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
    /// Wait-free. A private item costs no atomic read-modify-write. A public one costs one, which
    /// takes back this item ([`Strict`]) or half of the public items ([`Lazy`](crate::Lazy)). An
    /// empty deque costs none, if the owner knows that it is empty.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        if !P::KEEPS_PRIVATE {
            if self.private() == 0 && !self.reclaim() {
                return None;
            }
        } else if !self.deque.stops.allow_pop(self.position.get() - 1) {
            return self.pop_with_care();
        }
        // SAFETY: it is private: `floor` is not before `split`.
        Some(unsafe { self.read() })
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn pop_with_care(&self) -> Option<T> {
        if self.private() == 0 && !self.reclaim() {
            // The thief that took the last one asks, but perhaps not before the next push.
            self.deque.stops.set_asked();
            return None;
        }
        // SAFETY: it is private.
        let item = unsafe { self.read() };
        self.settle();
        Some(item)
    }

    /// Makes every item public. A [`Strict`] deque has nothing to do.
    ///
    /// Wait-free: a store. For the owner of a [`Lazy`](crate::Lazy) deque that is about to block,
    /// or to run something long: private items are out of reach meanwhile.
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
            self.show(self.bottom());
            self.settle();
        }
    }

    /// The position of the item that is pushed next. Positions count up from item to item, and a
    /// pop gives one back; thieves do not change them. Wait-free.
    #[inline(always)]
    pub fn position(&self) -> u64 {
        self.position.get()
    }

    /// How many items there are. Thieves may have taken some of them without the owner's knowledge.
    pub fn len(&self) -> usize {
        // The index that thieves have reached is never past bottom.
        self.bottom().wrapping_sub(self.deque.taken()) as usize
    }

    /// Whether there is no item. `true` is certain; `false` may be out of date, because of thieves.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.deque.taken() == self.bottom()
    }

    /// How many items there is memory for, in the newest ring.
    pub fn capacity(&self) -> usize {
        self.ring().capacity() as usize
    }

    /// The index of the next push.
    #[inline]
    pub(crate) fn bottom(&self) -> u32 {
        self.position.get() as u32
    }

    /// Makes room if there is none, and writes `item` to the slot at bottom. It is private.
    #[inline]
    fn append(&self, item: T) {
        if self.room() == 0 {
            self.make_room(1);
        }
        // SAFETY: there is room.
        unsafe { self.write(item) };
    }

    /// Writes `item` to the slot at bottom. It is private.
    ///
    /// # Safety
    ///
    /// There is room for it.
    #[inline]
    unsafe fn write(&self, item: T) {
        let position = self.position.get();
        // SAFETY: this is the owner; nothing at or past bottom is published; there is room, so the
        // slot is free.
        unsafe { self.slots.get().write(position as u32, item) };
        self.position.set(position + 1);
    }

    /// Takes the last item out of its slot.
    ///
    /// # Safety
    ///
    /// There is one, and it is private.
    #[inline]
    unsafe fn read(&self) -> T {
        let last = self.position.get() - 1;
        self.position.set(last);
        // SAFETY: this end pushed the item, and it is private: no thief has it or can get it.
        unsafe { self.slots.get().take(last as u32) }
    }

    /// Makes private items public, up to `split`. Lazy only.
    pub(crate) fn show(&self, split: u32) {
        if let Some(prepare) = self.prepare {
            let mut index = self.split.get();
            while index != split {
                // SAFETY: this is the owner, the newest ring, and the item is private.
                unsafe { self.slots.get().look(index, prepare) };
                index = index.wrapping_add(1);
            }
        }
        self.publish(split);
        self.has_published.set(true);
    }

    #[inline]
    pub(crate) fn ring(&self) -> &Ring<T> {
        // SAFETY: the newest ring lives until the deque is dropped, or `replace_ring` has replaced
        // it; no caller keeps the reference across that.
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
        drop_each(|| self.pop());
    }
}
