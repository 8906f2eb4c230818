//! The owner's end.

use alloc::alloc::handle_alloc_error;
use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use filch_sync::{Arc, drop_each};

use crate::deque::{Deque, NO_FLOOR};
use crate::ring::{MAX_CAPACITY, NoMemory, Ring, Slots, capacity_for};

/// The slots of a deque that [`Worker::new`] makes.
const DEFAULT_CAPACITY: usize = 64;

/// The owner's end of a deque: pushes and pops at the bottom, last in, first out.
///
/// One thread at a time has it: it is [`Send`], neither [`Sync`] nor [`Clone`]. Thieves take from
/// the top through [`Stealer`](crate::Stealer)s.
///
/// Dropping it drops each remaining item exactly once. Thieves in flight finish with what they have
/// claimed, and find nothing more. If the destructor of an item panics, the other items are dropped
/// nevertheless. A worker that is forgotten instead leaves its items to the thieves, and its memory
/// is never freed.
///
/// Source: D. Chase and Y. Lev, *Dynamic Circular Work-Stealing Deque*, SPAA 2005, with the changes
/// that [`algorithm`](crate::algorithm) explains.
pub struct Worker<T> {
    pub(crate) deque: Arc<Deque<T>>,
    /// The newest ring.
    pub(crate) ring: Cell<NonNull<Ring<T>>>,
    /// The slots of that ring.
    pub(crate) slots: Cell<Slots<T>>,
    /// The first position that must not be written yet, because its slot may be in use. Between the
    /// owner's calls it is behind `bottom`: there is room for one item at least.
    pub(crate) room_end: Cell<u64>,
    /// The position that thieves had reached when the owner last looked.
    pub(crate) reached: Cell<u64>,
    /// The deque is the owner's, as far as that knows.
    pub(crate) is_biased: Cell<bool>,
    /// The number of pops that must find no thief before the deque is the owner's again.
    pub(crate) wary: Cell<u32>,
    /// A thief has asked, and nobody was told since.
    pub(crate) was_asked: Cell<bool>,
    /// The deque may be the owner's at all.
    pub(crate) may_bias: bool,
    // Neither Sync nor tied to the rules of the pointers in here.
    items: PhantomData<Cell<T>>,
}

// SAFETY: it is the only owner's end, on whatever thread, and the items are `Send`. The `NonNull`
// is a ring that the deque keeps alive.
unsafe impl<T: Send> Send for Worker<T> {}

impl<T> Default for Worker<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Worker<T> {
    /// Makes an empty deque with 64 slots, whose items are all in reach of thieves, from push to
    /// pop. It grows when it is full.
    ///
    /// For a pusher that looks for sleeping thieves after each push, by a fence of its own, and for
    /// all who do not [register](filch_sync::asymmetric::register) their process for heavy fences.
    pub fn new() -> Self {
        Self::with_capacity(DEFAULT_CAPACITY)
    }

    /// Makes one with so many slots, rounded up to a power of two, at least one.
    ///
    /// # Panics
    ///
    /// If `capacity` is greater than 2²⁸.
    pub fn with_capacity(capacity: usize) -> Self {
        Self::starting_at(capacity, 0, false)
    }

    /// Makes an empty deque with so many slots, rounded up to a power of two, which is *biased*
    /// towards its owner while no thief asks: a push or a pop is then a store and a load, and
    /// thieves that want something have to [ask](crate::Stealer::ask).
    ///
    /// It is biased only where there are heavy fences, which the process has to
    /// [register](filch_sync::asymmetric::register) for. Elsewhere it is always shared,
    /// and a push pays an exchange, as a pop does: thieves that sleep are told without a fence.
    ///
    /// ```
    /// use filch_deque::{Steal, Worker};
    ///
    /// filch_sync::asymmetric::register();
    /// let worker = Worker::biased(64);
    /// let stealer = worker.stealer();
    /// worker.push("older");
    /// worker.push("younger");
    /// worker.push("popped");
    /// worker.pop(); // and no thief was there: from now on it is the owner's
    /// if !stealer.is_shared() {
    ///     assert_eq!(stealer.steal(), Steal::Empty, "nothing is in reach; it asks");
    ///     worker.push("shared");
    /// }
    /// assert_eq!(stealer.steal(), Steal::Success("older"));
    /// ```
    ///
    /// # Panics
    ///
    /// If `capacity` is greater than 2²⁸.
    pub fn biased(capacity: usize) -> Self {
        Self::starting_at(capacity, 0, true)
    }

    /// Makes a deque for tests, whose tag and index begin at `start`, so that they soon wrap.
    #[doc(hidden)]
    pub fn starting_at(capacity: usize, start: u32, may_bias: bool) -> Self {
        let capacity = capacity_for(u32::try_from(capacity).ok());
        let Ok(ring) = Ring::allocate(capacity, start) else {
            handle_alloc_error(Layout::new::<T>())
        };
        let deque = Deque::new(start, ring);
        let room_end = deque.bottom() + u64::from(capacity);
        if !may_bias {
            deque.set_stops(room_end, NO_FLOOR);
        }
        Self {
            // SAFETY: `allocate` returned it just now.
            slots: Cell::new(unsafe { ring.as_ref() }.slots()),
            ring: Cell::new(ring),
            room_end: Cell::new(room_end),
            reached: Cell::new(deque.bottom()),
            is_biased: Cell::new(false),
            wary: Cell::new(0),
            was_asked: Cell::new(false),
            may_bias,
            items: PhantomData,
            deque: Arc::new(deque),
        }
    }

    /// Pushes `item` at the bottom.
    ///
    /// Wait-free, unless it has to allocate: when the deque must grow, or when the ring has come
    /// full circle while a thief is in the middle of a steal. What the owner did before happens
    /// before the item is stolen.
    ///
    /// # Panics
    ///
    /// If the deque would hold 2²⁸ items. The item is dropped.
    #[inline]
    pub fn push(&self, item: T) {
        // SAFETY: it is the position of now, and `finish_push` follows.
        if !unsafe { self.push_at(self.position(), item) } {
            self.finish_push();
        }
    }

    /// Pushes `item`. `false`: [`finish_push`](Self::finish_push) is to be called next. Wait-free.
    ///
    /// ```
    /// use filch_deque::Worker;
    ///
    /// let worker = Worker::biased(64);
    /// let position = worker.position();
    /// // SAFETY: the position is that of now, and `finish_push` follows.
    /// if !unsafe { worker.push_at(position, "inner") } {
    ///     worker.finish_push();
    /// }
    /// // SAFETY: the item lies there, and the one follows the other.
    /// assert!(unsafe { worker.take_back(position) || worker.take_back_slowly() });
    /// assert!(worker.is_empty());
    /// ```
    ///
    /// # Safety
    ///
    /// `position` is what [`position`](Self::position) answers now. After a `false`, `finish_push`
    /// is called before anything else of this worker's.
    #[inline(always)]
    #[must_use = "`finish_push` is to follow if it is false"]
    pub unsafe fn push_at(&self, position: u64, item: T) -> bool {
        debug_assert_eq!(position, self.position());
        // Read before the slot is written, which the compiler must take for any memory.
        let deque = &*self.deque;
        // SAFETY: this is the owner, and the newest ring; nothing at or past bottom is in the
        // deque; there is room for one between its calls.
        unsafe { self.slots.get().write(position as u32, item) };
        deque.extend(position + 1)
    }

    /// Pushes, but returns the item where [`push`](Self::push) would end the program.
    ///
    /// # Errors
    ///
    /// The item, if the deque is full and there is no memory for a larger one.
    ///
    /// # Panics
    ///
    /// As `push` does.
    #[inline]
    pub fn try_push(&self, item: T) -> Result<(), T> {
        let position = self.position();
        if position + 1 == self.room_end.get() && self.try_make_room(2).is_err() {
            return Err(item);
        }
        if self.may_bias {
            self.push(item);
            return Ok(());
        }
        // There is room after it, and nothing else stops a deque that is always shared. SAFETY: as
        // in `push_at`.
        unsafe { self.slots.get().write(position as u32, item) };
        self.deque.set_bottom(position + 1);
        Ok(())
    }

    /// Pushes `items` in order, one by one. The iterator may use this deque.
    ///
    /// # Panics
    ///
    /// As [`push`](Self::push) does. What the iterator gave until then is in the deque; so it is if
    /// the iterator panics.
    pub fn push_batch(&self, items: impl IntoIterator<Item = T>) {
        items.into_iter().for_each(|item| self.push(item));
    }

    /// Pushes `count` items that `next` gives, in order. Thieves find none before all are there.
    ///
    /// # Safety
    ///
    /// `next` does not use this deque. What it gave is leaked if it panics.
    ///
    /// # Panics
    ///
    /// If the deque would hold 2²⁸ items.
    pub unsafe fn push_together(&self, count: usize, mut next: impl FnMut() -> T) {
        if self.try_reserve(count).is_err() {
            handle_alloc_error(Layout::new::<T>());
        }
        let (first, slots) = (self.position() as u32, self.slots.get());
        for index in 0..count as u32 {
            // SAFETY: this is the owner, and the newest ring; nothing at or past bottom is in the
            // deque; there is room.
            unsafe { slots.write(first.wrapping_add(index), next()) };
        }
        self.extend_by(count as u32);
    }

    /// Makes room for `additional` items: the pushes that follow allocate nothing, until there are
    /// so many more. Wait-free, unless it has to allocate.
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

    /// Adds the next `count` slots, which have been written, to the deque.
    pub(crate) fn extend_by(&self, count: u32) {
        if !self.deque.extend(self.position() + u64::from(count)) {
            self.finish_push();
        }
    }

    /// Pops the item that was pushed last. `None` if there is none, or if a thief took the last one
    /// first.
    ///
    /// Wait-free. A deque of [`new`](Self::new) takes a store and an atomic read-modify-write. One
    /// of [`biased`](Self::biased) takes a store and a load; while it is shared, a
    /// read-modify-write more, or two if they make it biased. One that is known to be empty takes
    /// none.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        let last = self.position() - 1;
        let is_there = match self.may_bias {
            true => self.deque.retract(last) || self.reclaim(last),
            false => self.take_shared(last),
        };
        // SAFETY: this end pushed the item, and the newest ring has it. It is off the deque, and no
        // thief has it.
        is_there.then(|| unsafe { self.slots.get().take(last as u32) })
    }

    /// Takes the item at `last` off an always shared deque. Returns whether it is the owner's.
    #[inline(always)]
    fn take_shared(&self, last: u64) -> bool {
        let known = self.reached.get();
        if known > last {
            return false;
        }
        self.deque.set_bottom(last);
        let top = self.deque.bump();
        top.leaves(last) || self.look_at_thieves(last, known, top.next())
    }

    /// The position of the item that is pushed next. Positions count up from item to item, and a
    /// pop gives one back; thieves do not change them. Wait-free.
    #[inline(always)]
    pub fn position(&self) -> u64 {
        self.deque.bottom()
    }

    /// Returns the number of items. Thieves may have taken some without the owner's knowledge.
    pub fn len(&self) -> usize {
        // The index that thieves have reached is never past bottom.
        self.deque.top().until(self.position()) as usize
    }

    /// Returns whether there is no item. `true` is certain; `false` may be out of date, by thieves.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of slots in the newest ring.
    pub fn capacity(&self) -> usize {
        self.ring().capacity() as usize
    }

    #[inline]
    pub(crate) fn ring(&self) -> &Ring<T> {
        // SAFETY: the newest ring lives until the deque is dropped, or `replace_ring` has replaced
        // it; no caller keeps the reference across that.
        unsafe { self.ring.get().as_ref() }
    }
}

/// Ways to take back items unread, for items that only thieves read, such as jobs on the owner's
/// stack: the owner knows what it has pushed.
impl<T: Copy> Worker<T> {
    /// Pops the newest item, unread, if that takes a store and a look. `false`:
    /// [`take_back_slowly`](Self::take_back_slowly) is to be called next. Wait-free.
    ///
    /// The caller remembers where it has pushed the item: loaded anew, the position would come from
    /// the store of the last call, and each call would wait for the one before.
    ///
    /// # Safety
    ///
    /// The item that was pushed at `position` has not been popped, and all later ones have. After a
    /// `false`, `take_back_slowly` is called before anything else of this worker's.
    #[inline(always)]
    #[must_use = "`take_back_slowly` is to follow if it is false"]
    pub unsafe fn take_back(&self, position: u64) -> bool {
        debug_assert!(position < self.position());
        self.deque.retract(position)
    }

    /// Pops that item. `false` if a thief has it, and with it every item that is older. Wait-free.
    ///
    /// # Safety
    ///
    /// [`take_back`](Self::take_back) has just said `false`.
    pub unsafe fn take_back_slowly(&self) -> bool {
        self.reclaim(self.position())
    }
}

impl<T> FromIterator<T> for Worker<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let worker = Self::new();
        worker.push_batch(items);
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
        // Else its thieves would wait for an answer, also if a destructor panics.
        self.share();
        self.may_bias = false;
        drop_each(|| self.pop());
    }
}
