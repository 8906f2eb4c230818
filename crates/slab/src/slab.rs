//! The slots and their indices, one by one or in batches.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::{error, fmt, mem};

use filch_sync::CachePadded;
use filch_sync::atomic::{AtomicU32, Ordering, fence};

use crate::array::NoMemory;
use crate::free_list::{FreeList, MOST};
use crate::pages::{Make, Pages, Slot};

/// Slots that never move, handed out by index.
///
/// A slot's value is constructed once and dropped with the slab. In between,
/// [`allocate`](Self::allocate) and [`release`](Self::release) pass the right to use an index
/// around, and [`get`](Self::get) gives a shared reference to every caller, owner of the index or
/// not: memory is *type-stable*.
///
/// The free list is Treiber's stack (R. K. Treiber, *Systems Programming: Coping with Parallelism*,
/// 1986) with a counted pointer; see [`algorithm`](crate::algorithm).
///
/// ```
/// use filch_slab::Slab;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// // A table of processes: a slot's generation counts the lives that it has had.
/// struct Process {
///     generation: AtomicU32,
/// }
/// let table = Slab::new(|_index| Process { generation: AtomicU32::new(0) });
///
/// let index = table.allocate()?;
/// let stale = table.get(index).unwrap().generation.load(Ordering::Relaxed);
///
/// // The process ends. A stale index still leads to the slot, and shows that the life is another.
/// table.get(index).unwrap().generation.fetch_add(1, Ordering::Relaxed);
/// table.release(index);
/// assert_ne!(table.get(index).unwrap().generation.load(Ordering::Relaxed), stale);
/// # Ok::<(), filch_slab::AllocateError>(())
/// ```
#[doc(alias = "SlotMap")]
pub struct Slab<T> {
    pages: Pages<T>,
    limit: u32,
    make: Make<T>,
    /// The lowest index that was never allocated.
    fresh: CachePadded<AtomicU32>,
    free: FreeList,
    /// In a retired slab: the slots still allocated. Wraps while releases count before `retire`
    /// does.
    out: AtomicU32,
    /// The pages own values of type `T`; `Send` and `Sync` are argued below, not inherited from the
    /// pointers.
    values: PhantomData<*mut T>,
}

// SAFETY: the slab owns its values; the thread that owns the slab may use and drop them.
unsafe impl<T: Send> Send for Slab<T> {}
// SAFETY: a shared slab hands out `&T` on every thread (`T: Sync`), and a value made by one
// thread's `allocate` is dropped by the thread that drops the slab (`T: Send`). All else is atomic.
unsafe impl<T: Send + Sync> Sync for Slab<T> {}

/// The reason why no slot was allocated. The slab is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocateError {
    /// Every slot below the limit is allocated.
    Full,
    /// No slot is free, and the global allocator has no memory for more of them.
    NoMemory,
}

impl fmt::Display for AllocateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "every slot of the slab is allocated",
            Self::NoMemory => "there is no memory for more slots",
        })
    }
}

impl error::Error for AllocateError {}

impl From<NoMemory> for AllocateError {
    fn from(NoMemory: NoMemory) -> Self {
        Self::NoMemory
    }
}

impl<T> Slab<T> {
    /// Makes an empty slab of up to 2³² − 2 slots. Allocates nothing.
    ///
    /// `make(index)` constructs the value of each slot, once, when the slab constructs its page. It
    /// must be pure: if two threads need a page at once, both construct it and one result is
    /// dropped.
    pub fn new(make: fn(u32) -> T) -> Self {
        Self::with_limit(make, MOST)
    }

    /// Like [`new`](Self::new), with at most `limit` slots: every index that is allocated is below
    /// `limit`.
    pub fn with_limit(make: fn(u32) -> T, limit: u32) -> Self {
        Self::with_make(Make::Value(make), limit)
    }

    /// Like [`with_limit`](Self::with_limit), for values that are too large for the stack:
    /// `make(index, place)` writes the value to its place, and returns it.
    ///
    /// ```
    /// use filch_slab::Slab;
    ///
    /// // A megabyte of zeros in each slot.
    /// let buffers = Slab::<[u8; 1 << 20]>::in_place(
    ///     |_index, place| {
    ///         // SAFETY: zeros are a value of this type.
    ///         unsafe {
    ///             place.as_mut_ptr().write_bytes(0, 1);
    ///             place.assume_init_mut()
    ///         }
    ///     },
    ///     1_000,
    /// );
    /// let index = buffers.allocate()?;
    /// assert_eq!(buffers.get(index).unwrap()[0], 0);
    /// # Ok::<(), filch_slab::AllocateError>(())
    /// ```
    pub fn in_place(make: fn(u32, &mut MaybeUninit<T>) -> &mut T, limit: u32) -> Self {
        Self::with_make(Make::InPlace(make), limit)
    }

    fn with_make(make: Make<T>, limit: u32) -> Self {
        Self {
            pages: Pages::new(),
            limit: limit.min(MOST),
            make,
            fresh: CachePadded::new(AtomicU32::new(0)),
            free: FreeList::new(),
            out: AtomicU32::new(0),
            values: PhantomData,
        }
    }

    /// Takes a free slot: the one released last, or a new one if none is free. Lock-free, except in
    /// the global allocator: new slots come from it, at most 64 KiB at once (or one larger slot),
    /// and now and then a directory, with 16 bytes for each page that the slab already has.
    ///
    /// Everything before the [`release`](Self::release) of this index happens before this returns.
    ///
    /// # Errors
    ///
    /// [`AllocateError::Full`] if, at some moment during the call, every slot below the limit was
    /// allocated. [`AllocateError::NoMemory`] if no slot was free at some moment during the call,
    /// and the allocator refused the memory for more.
    ///
    /// # Panics
    ///
    /// If `make` panics; the slab is then unchanged. If a `make` that [writes](Self::in_place) its
    /// value returns another one.
    pub fn allocate(&self) -> Result<u32, AllocateError> {
        // The second look at the free list makes the error exact: a slot may have come back before
        // another thread took the last new one.
        match self.pop_free() {
            Some(index) => Ok(index),
            None => self.take_fresh().or_else(|error| {
                // ORDERING: Acquire: pairs with the Release of `take_fresh` in the thread that took
                // the last new slot: what had come back by then is seen by this look.
                fence(Ordering::Acquire);
                self.pop_free().ok_or(error)
            }),
        }
    }

    /// Gets the memory for one more slot: at the moment when this returns, an
    /// [`allocate`](Self::allocate) would not call the global allocator. Wait-free, except in the
    /// allocator.
    ///
    /// For a caller that cannot turn back later. No slot is set aside: another thread may take it
    /// first.
    ///
    /// ```
    /// let slab = filch_slab::Slab::new(|_| ());
    /// slab.reserve()?;
    /// // ... what cannot be undone ...
    /// let index = slab.allocate()?;
    /// # Ok::<(), filch_slab::AllocateError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`allocate`](Self::allocate).
    ///
    /// # Panics
    ///
    /// As [`allocate`](Self::allocate).
    #[inline]
    pub fn reserve(&self) -> Result<(), AllocateError> {
        if self.free.has_one() {
            return Ok(());
        }
        // ORDERING: Relaxed: `ensure` acquires the page itself.
        let index = self.fresh.load(Ordering::Relaxed);
        if index >= self.limit {
            return Err(AllocateError::Full);
        }
        Ok(self.pages.ensure(index, &self.make)?)
    }

    /// Gives a slot back. Its value stays, for the next owner of the index to find. Lock-free.
    /// Returns true if it was the last one of a [retired](Self::retire) slab: then the caller owns
    /// the slab.
    ///
    /// The index must have come from [`allocate`](Self::allocate) and not been released since.
    /// Otherwise two callers may come to own one index. That is only a logic error: the slab never
    /// lends a `&mut T`, so the function is safe. Code that derives exclusive access from owning an
    /// index must keep its slab and its indices private.
    ///
    /// # Panics
    ///
    /// If there is no such slot: no index of its page was ever allocated.
    pub fn release(&self, index: u32) -> bool {
        let slot = self.slot(index).expect("a released index was allocated");
        self.push_free(index, &slot.link, 1)
    }

    /// Puts a chain of `slots` slots on the free list, or counts them down. Returns true if they
    /// were the last ones of a retired slab.
    pub(crate) fn push_free(&self, first: u32, last: &AtomicU32, slots: u32) -> bool {
        // ORDERING: partner of itself, in other threads, and of the addition in `retire`. Release:
        // what they did in the slab happens before it is freed. Acquire: by this one.
        !self.free.push(first, last) && self.out.fetch_sub(slots, Ordering::AcqRel) == slots
    }

    /// Leaves the slab to the threads that still have slots of it. Returns true if there are none:
    /// then the caller still owns the slab. Else the thread that [releases](Self::release) the last
    /// one will, and the slab may be gone on return.
    ///
    /// So an owner need not count the users of its slots. Call it once. Everything that a thread
    /// did in the slab, up to its release of a slot, happens before the `true`. Takes time in
    /// proportion to the free slots. A later [`allocate`](Self::allocate) panics.
    #[must_use = "true: the slab is still the caller's, to be dropped"]
    pub fn retire(&self) -> bool {
        let free = self.free.retire(|index| self.link(index));
        // ORDERING: Relaxed: nobody allocates any more.
        let out = self.fresh.load(Ordering::Relaxed) - free;
        // ORDERING: AcqRel: see `release`.
        self.out.fetch_add(out, Ordering::AcqRel).wrapping_add(out) == 0
    }

    /// Returns the value at `index`, even if the caller does not own it. Wait-free: one load, or
    /// two in a slab of more than a page.
    ///
    /// `Some` if the allocation of `index` happens before this call. Slots are constructed by the
    /// page, so an index that was never allocated may have a value too.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&T> {
        self.slot(index).map(|slot| &slot.value)
    }

    /// Returns the lowest index that was never allocated. Every index below has a value. Wait-free.
    ///
    /// Either an index is below the answer, or what the caller did before this call happens before
    /// the return of the [`allocate`](Self::allocate) that hands the index out for the first time.
    pub fn high_water(&self) -> u32 {
        // ORDERING: Acquire: pairs with the Release of `take_fresh`, so that `get` finds the pages
        // of these indices. Release: pairs with the Acquire of `take_fresh`; an RMW and not a load,
        // so that the one of the two that comes later reads the other.
        self.fresh.fetch_or(0, Ordering::AcqRel)
    }

    #[inline]
    pub(crate) fn slot(&self, index: u32) -> Option<&Slot<T>> {
        self.pages.slot(index)
    }

    fn pop_free(&self) -> Option<u32> {
        self.free.pop(|index| self.link(index))
    }

    pub(crate) fn link(&self, index: u32) -> &AtomicU32 {
        let slot = self.slot(index).expect("a free index was allocated");
        &slot.link
    }

    /// Takes the lowest index that was never allocated. Lock-free.
    fn take_fresh(&self) -> Result<u32, AllocateError> {
        // ORDERING: Relaxed: `ensure` acquires the page itself; a stale index only fails the
        // exchange.
        let mut index = self.fresh.load(Ordering::Relaxed);
        while index < self.limit {
            // First the page, then the index: `make` may panic, and `high_water` must not run ahead
            // of the pages.
            self.pages.ensure(index, &self.make)?;
            // ORDERING: success Release: pairs with the Acquire of `high_water`: a thread that sees
            // the index below the mark sees the page. Acquire: pairs with the Release there.
            // Failure Relaxed: as the load.
            match self.fresh.compare_exchange_weak(
                index,
                index + 1,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok(index),
                Err(now) => index = now,
            }
        }
        Err(AllocateError::Full)
    }
}

impl<T> fmt::Debug for Slab<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slab")
            .field("high_water", &self.high_water())
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// Slots that one thread gives back to a slab, [`SIZE`](Self::SIZE) at a time: the list of free
/// slots, which all threads write, is written once for all of them.
///
/// Until then nobody allocates them. Give a batch [back](Slab::give_back) before you drop it; else
/// its slots are lost.
#[derive(Debug, Default)]
pub struct Batch {
    /// The slots' links lead from here to the last one.
    first: u32,
    last: u32,
    slots: u32,
}

impl Batch {
    /// The number of slots that fill a batch. A larger one would save little: the shared write
    /// costs each slot a thirty-second part already.
    pub const SIZE: u32 = 32;
}

impl<T> Slab<T> {
    /// As [`release`](Self::release), into a batch, which is given back when it is full. All slots
    /// of a batch must be from one slab.
    ///
    /// # Panics
    ///
    /// As [`release`](Self::release).
    pub fn release_into(&self, batch: &mut Batch, index: u32) -> bool {
        let slot = self.slot(index).expect("a released index was allocated");
        if batch.slots == 0 {
            batch.last = index;
        } else {
            // ORDERING: Relaxed: the push of the batch publishes it. A `pop` that found this index
            // on top earlier may look meanwhile: as there.
            slot.link.store(batch.first, Ordering::Relaxed);
        }
        batch.first = index;
        batch.slots += 1;
        batch.slots == Batch::SIZE && self.give_back(batch)
    }

    /// Gives back the slots of the batch and empties it. Lock-free. Returns true if these were the
    /// last slots of a [retired](Self::retire) slab: then the caller owns the slab.
    pub fn give_back(&self, batch: &mut Batch) -> bool {
        let Batch { first, last, slots } = mem::take(batch);
        slots > 0 && self.push_free(first, self.link(last), slots)
    }
}
