//! The memory of the items: a ring of slots, and the count of the claims that have left it.

use alloc::alloc::alloc;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::alloc::Layout;
use core::cell::Cell;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::{error, fmt};

use filch_sync::CachePadded;
use filch_sync::atomic::{AtomicU32, Ordering};
use filch_sync::cell::{UnsafeCell, with_runs};

/// No ring is larger. So any two indices of one ring are a quarter of the index space apart at
/// most, which has 30 bits, and are not confused after wrapping.
pub(crate) const MAX_CAPACITY: u32 = 1 << 28;

/// The smallest capacity for so many items; `None` is more than a `u32` can tell.
///
/// # Panics
///
/// If it would be larger than [`MAX_CAPACITY`].
pub(crate) fn capacity_for(items: Option<u32>) -> u32 {
    items
        .filter(|&items| items <= MAX_CAPACITY)
        .expect("a deque has room for 2^28 items at most")
        .next_power_of_two()
}

/// The global allocator has no memory for a larger ring. The deque is as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemory;

impl fmt::Display for NoMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no memory for more items")
    }
}

impl error::Error for NoMemory {}

/// A power of two of slots: item `i` lives in slot `i mod capacity`.
///
/// | field | who touches it, and when |
/// |---|---|
/// | `done` | a thief adds to it as its last access to the ring; the owner reads it |
/// | `slots` | the pointer and the length never change. Slot `i`: the owner writes it while `i` is at or past `bottom` and no claim of `i - capacity` is open; the taker of item `i` reads it |
/// | `base`, `end`, `older` | the owner alone, and after it the thread that drops the deque |
///
/// A thief keeps no reference to a `Ring` when it calls [`finish`](Self::finish): the ring may be
/// freed while that call returns.
pub(crate) struct Ring<T> {
    done: CachePadded<AtomicU32>,
    slots: Box<[UnsafeCell<MaybeUninit<T>>]>,
    base: Cell<u32>,
    end: Cell<u32>,
    older: Cell<Option<NonNull<Ring<T>>>>,
}

/// The slots of a ring. Valid as long as the ring.
pub(crate) struct Slots<T> {
    first: NonNull<UnsafeCell<MaybeUninit<T>>>,
    /// The capacity less one.
    mask: u32,
}

impl<T> Clone for Slots<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slots<T> {}

impl<T> Slots<T> {
    /// # Safety
    ///
    /// The ring lives as long as the reference is used.
    #[inline]
    unsafe fn slot<'a>(self, index: u32) -> &'a UnsafeCell<MaybeUninit<T>> {
        // SAFETY: the number of slots is a power of two, so the mask keeps the position among them;
        // they live, by contract, and are shared like the ring, which `UnsafeCell` allows.
        unsafe { self.first.add((index & self.mask) as usize).as_ref() }
    }

    /// Moves `item` into the slot of `index`.
    ///
    /// # Safety
    ///
    /// The ring lives; the caller is the owner, `index` is not published, and no claim of the
    /// slot's former item is open.
    #[inline]
    pub(crate) unsafe fn write(self, index: u32, item: T) {
        // SAFETY: the ring lives, by contract.
        unsafe { self.slot(index) }.with_mut(|slot| {
            // SAFETY: by contract no other thread reads or writes this slot now.
            unsafe { (*slot).write(item) };
        });
    }

    /// Moves the item at `index` out of its slot.
    ///
    /// # Safety
    ///
    /// The ring lives; item `index` was written with an edge from there to here, and it is the
    /// caller's: claimed, or reclaimed by the owner. It is taken once.
    #[inline]
    pub(crate) unsafe fn take(self, index: u32) -> T {
        // SAFETY: the ring lives, by contract.
        unsafe { self.slot(index) }.with(|slot| {
            // SAFETY: by contract the slot is initialized, not being written, and not taken a
            // second time.
            unsafe { (*slot).assume_init_read() }
        })
    }

    /// Copies the bits of `count` items, from index `first` on, to `target`, from index `to` on,
    /// and does not decide their owner. Slots that follow each other in either ring are copied at
    /// once: so a processor asks for several of another core's lines at a time.
    ///
    /// # Safety
    ///
    /// Both rings live and have `count` slots. The items were written, with an edge from there to
    /// here, and are not being written again. The caller owns `target`; its slots from `to` on are
    /// not published, and no claim of their former items is open.
    #[inline]
    pub(crate) unsafe fn copy_to(self, first: u32, count: u32, target: Self, to: u32) {
        let mut copied = 0;
        while copied < count {
            let (from, into) = (first.wrapping_add(copied), to.wrapping_add(copied));
            let run = (count - copied)
                .min(self.until_wrap(from))
                .min(target.until_wrap(into));
            // SAFETY: the rings live, by contract, and neither run goes past the last slot.
            let (from, into) = unsafe { (self.run(from, run), target.run(into, run)) };
            with_runs(from, into, |from, into, count| {
                // SAFETY: by contract no thread writes what is read here, and no other thread
                // touches what is written; two rings do not overlap. The copy is of `MaybeUninit`s:
                // it does not make an item exist twice.
                unsafe { into.copy_from_nonoverlapping(from, count) };
            });
            copied += run;
        }
    }

    /// Counts the slots from that of `index` to the last one: at least one.
    #[inline]
    fn until_wrap(self, index: u32) -> u32 {
        self.mask - (index & self.mask) + 1
    }

    /// `count` slots, from that of `index` on.
    ///
    /// # Safety
    ///
    /// As for [`slot`](Self::slot), and `count` is no more than [`until_wrap`](Self::until_wrap).
    #[inline]
    unsafe fn run<'a>(self, index: u32, count: u32) -> &'a [UnsafeCell<MaybeUninit<T>>] {
        // SAFETY: `count` slots follow, by contract; the rest as in `slot`.
        unsafe {
            let first = self.first.add((index & self.mask) as usize);
            NonNull::slice_from_raw_parts(first, count as usize).as_ref()
        }
    }
}

impl<T> Ring<T> {
    /// A ring without items, for `capacity` of them (a power of two), whose first claim will begin
    /// at `base`.
    ///
    /// # Errors
    ///
    /// There is no memory for it.
    pub(crate) fn allocate(capacity: u32, base: u32) -> Result<NonNull<Self>, NoMemory> {
        debug_assert!(capacity.is_power_of_two() && capacity <= MAX_CAPACITY);
        let mut slots = Vec::new();
        let refused = |_| NoMemory;
        slots
            .try_reserve_exact(capacity as usize)
            .map_err(refused)?;
        slots.extend((0..capacity).map(|_| UnsafeCell::new(MaybeUninit::uninit())));
        // SAFETY: a ring has a size.
        let place = unsafe { alloc(Layout::new::<Self>()) };
        let place = NonNull::new(place.cast::<Self>()).ok_or(NoMemory)?;
        // SAFETY: the memory has the size and the alignment of a ring, and is this thread's.
        unsafe {
            place.write(Self {
                done: CachePadded::new(AtomicU32::new(0)),
                slots: slots.into_boxed_slice(),
                base: Cell::new(base),
                end: Cell::new(base),
                older: Cell::new(None),
            });
        }
        Ok(place)
    }

    /// Frees the ring. Items in its slots are not dropped.
    ///
    /// # Safety
    ///
    /// The ring came from [`allocate`](Self::allocate), and no thread will touch it again: it is
    /// not published, and every claim of it has finished, with an edge from there to here.
    pub(crate) unsafe fn free(ring: NonNull<Self>) {
        // SAFETY: `allocate` took its memory where a box does, and by contract this is the only
        // pointer that is still used.
        drop(unsafe { Box::from_raw(ring.as_ptr()) });
    }

    #[inline]
    pub(crate) fn capacity(&self) -> u32 {
        // No larger than MAX_CAPACITY.
        self.slots.len() as u32
    }

    /// The slots, for an owner that keeps them: a push or a pop then need not load from the ring.
    #[inline]
    pub(crate) fn slots(&self) -> Slots<T> {
        Slots {
            first: NonNull::from(&*self.slots).cast(),
            mask: self.capacity() - 1,
        }
    }

    /// Reports that `count` claimed items have left the ring. This is the thief's last access: the
    /// ring may be gone when this returns.
    ///
    /// # Safety
    ///
    /// The caller claimed `count` items of this ring, has moved all of them out, and calls this
    /// once for them.
    #[inline]
    pub(crate) unsafe fn finish(ring: NonNull<Self>, count: u32) {
        // ORDERING: Release, for the Acquire in `finished`: without it the owner could overwrite or
        // free slots that this thief is still reading. The additions of other thieves continue the
        // release sequence. SAFETY: a ring is not freed before every claim of it has finished, and
        // this one has not. No reference to the ring is an argument of a call that outlives the
        // addition. `fetch_add` itself takes one to an atomic, which may be freed while it
        // returns.
        unsafe { (*ring.as_ptr()).done.fetch_add(count, Ordering::Release) };
    }

    /// The index at which the claims of this ring end, if all of them have finished; an earlier one
    /// if a claim is open.
    ///
    /// Returns a value to be compared with top's index, if that is loaded afterwards.
    #[inline]
    pub(crate) fn finished(&self) -> u32 {
        // ORDERING: Acquire, for the Release in `finish`: the slots of finished claims may be
        // written again, and the ring freed. It also orders the claims that are counted here before
        // the load of top that follows.
        let done = self.done.load(Ordering::Acquire);
        self.base.get().wrapping_add(done)
    }

    /// Makes `self` the successor of `old`, for claims from `base` on.
    ///
    /// # Safety
    ///
    /// The caller is the owner; `old` is the ring that it is leaving, and no new claim of it is
    /// possible; `self` is not published.
    pub(crate) unsafe fn supersede(&self, old: NonNull<Self>, base: u32) {
        self.base.set(base);
        self.older.set(Some(old));
        // SAFETY: the owner alone frees rings, and not the one that it is leaving.
        unsafe { old.as_ref() }.end.set(base);
    }

    /// Frees the older rings whose claims have all finished.
    ///
    /// # Safety
    ///
    /// The caller is the owner, `self` is its newest ring, and it holds no reference to an older
    /// one.
    pub(crate) unsafe fn free_settled(&self) {
        let mut newer = NonNull::from(self);
        // SAFETY: rings in the list are live until freed here, by the owner.
        while let Some(ring) = unsafe { newer.as_ref() }.older.get() {
            // SAFETY: as above.
            let (settled, older) = unsafe {
                let ring = ring.as_ref();
                (ring.finished() == ring.end.get(), ring.older.get())
            };
            if settled {
                // SAFETY: as above.
                unsafe { newer.as_ref() }.older.set(older);
                // SAFETY: it was unlinked, it is not published any more, a thief that still holds
                // its address cannot claim (its tag is old), and `finished` acquired the end of
                // every claim there was.
                unsafe { Self::free(ring) };
            } else {
                newer = ring;
            }
        }
    }

    /// Frees this ring and every older one.
    ///
    /// # Safety
    ///
    /// As for [`free`](Self::free), for all of them; `end` is the final index of top.
    pub(crate) unsafe fn free_all(newest: NonNull<Self>, end: u32) {
        // SAFETY: live, by contract.
        unsafe { newest.as_ref() }.end.set(end);
        let mut next = Some(newest);
        while let Some(ring) = next {
            // SAFETY: live, by contract, and freed once: the list has no cycle.
            unsafe {
                next = ring.as_ref().older.get();
                debug_assert_eq!(
                    ring.as_ref().finished(),
                    ring.as_ref().end.get(),
                    "a claim got lost"
                );
                Self::free(ring);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_CAPACITY, capacity_for};

    #[test]
    fn a_capacity_is_a_power_of_two_up_to_the_largest() {
        for (items, capacity) in [(0, 1), (1, 1), (3, 4), (MAX_CAPACITY, MAX_CAPACITY)] {
            assert_eq!(capacity_for(Some(items)), capacity);
        }
    }
}
