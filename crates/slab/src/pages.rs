//! The pages: where the slot of an index lies, and how it is made. Each page is installed once, for
//! all threads.
//!
//! *Shelf* `s` has room for `2^s` slots and begins at index `2^s - 1`, so that the shelf of an
//! index is the position of the highest bit of `index + 1`, and the rest of the bits is the place
//! on the shelf. A shelf that fits a page is one page. A larger one is a directory of full pages:
//! the slab doubles, and never asks for more than a page of slots at once.

use core::array;
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};

use filch_sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use crate::array::{Array, Head, NoMemory};

/// The bytes of a page at most, unless a single slot is larger.
///
/// glibc's allocator fetches from 128 KiB on each piece from the system, and gives it back.
const PAGE_BYTES: usize = 64 << 10;

/// No page has more than `2^MAX_BITS` slots: none of them is smaller than its link.
const MAX_BITS: u32 = (PAGE_BYTES / size_of::<u32>()).ilog2();

/// The place of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    /// The shelf: at most 32, which is that of [`u32::MAX`] alone.
    shelf: usize,
    /// The place on the shelf.
    rest: usize,
}

impl Place {
    #[inline]
    const fn of(index: u32) -> Self {
        let ordinal = index as u64 + 1;
        let shelf = ordinal.ilog2();
        Self {
            shelf: shelf as usize,
            rest: (ordinal ^ (1 << shelf)) as usize,
        }
    }

    /// The page of a large shelf, and the slot of that page, where each has `2^bits` slots.
    #[inline]
    const fn on_large(self, bits: u32) -> (usize, usize) {
        (self.rest >> bits, self.rest & ((1 << bits) - 1))
    }
}

type Page<T> = OnceArray<Slot<T>>;

/// All pages of a slab. Dropped as a slice of the slots: if a destructor panics, the others still
/// run.
#[derive(Debug)]
pub(crate) struct Pages<T> {
    /// The shelves that are one page, of which the last is full; and some that are never used.
    small: [Page<T>; MAX_BITS as usize + 1],
    /// The shelves of 2, 4, 8 … full pages.
    large: [OnceArray<Page<T>>; u32::BITS as usize],
}

impl<T> Pages<T> {
    /// A full page has `2^BITS` slots: one, if two are too large.
    const BITS: u32 = match (PAGE_BYTES / size_of::<Slot<T>>()).checked_ilog2() {
        Some(bits) => bits,
        None => 0,
    };

    /// Makes the list without any page.
    pub(crate) fn new() -> Self {
        Self {
            small: array::from_fn(|_| OnceArray::absent()),
            large: array::from_fn(|_| OnceArray::absent()),
        }
    }

    /// The slot of `index`, if its page is there. Wait-free: one load, or two.
    #[inline]
    pub(crate) fn slot(&self, index: u32) -> Option<&Slot<T>> {
        let place = Place::of(index);
        match place.shelf.checked_sub(Self::BITS as usize + 1) {
            // SAFETY: the page of a small shelf has all of its slots (`grow`), and this is one of
            // them (`places_are_distinct`).
            None => unsafe { self.small[place.shelf].get(place.rest) },
            Some(large) => {
                let (page, slot) = place.on_large(Self::BITS);
                // SAFETY: the directory has all pages of its shelf, and each of them 2^BITS slots
                // (`grow`); these are one and one (`places_are_distinct`).
                unsafe { self.large[large].get(page)?.get(slot) }
            }
        }
    }

    /// Constructs the page of `index` if it is absent. On return this thread has acquired it.
    ///
    /// If `make` panics, or there is no memory, no page has changed.
    #[inline]
    pub(crate) fn ensure(&self, index: u32, make: &Make<T>) -> Result<(), NoMemory> {
        if self.slot(index).is_some() {
            return Ok(());
        }
        self.grow(index, make)
    }

    #[cold]
    fn grow(&self, index: u32, make: &Make<T>) -> Result<(), NoMemory> {
        let place = Place::of(index);
        let Some(large) = place.shelf.checked_sub(Self::BITS as usize + 1) else {
            return Self::construct(
                &self.small[place.shelf],
                index - place.rest as u32,
                1 << place.shelf,
                make,
            );
        };
        let directory = &self.large[large];
        if !directory.is_there() {
            // SAFETY: each place is written.
            directory.install(unsafe {
                Array::new(2 << large, |_, page| {
                    page.write(Page::absent());
                })
            }?);
        }
        let (page, slot) = place.on_large(Self::BITS);
        // SAFETY: a page of this shelf: as in `slot`.
        let page = unsafe { directory.get(page) }.expect("it is there");
        Self::construct(page, index - slot as u32, 1 << Self::BITS, make)
    }

    /// Constructs a page of `len` slots, the first of them `start`.
    fn construct(page: &Page<T>, start: u32, len: usize, make: &Make<T>) -> Result<(), NoMemory> {
        // SAFETY: `Make::construct` initializes its place.
        page.install(unsafe {
            Array::new(len, |slot, memory| {
                make.construct(start + slot as u32, memory);
            })
        }?);
        // The page may be another thread's: acquire it, for the owner of the index and for
        // `high_water`.
        let is_there = page.is_there();
        debug_assert!(is_there);
        Ok(())
    }
}

/// A place for an array: absent at first; once installed, it stays and does not move.
#[derive(Debug)]
pub(crate) struct OnceArray<E>(AtomicPtr<Head<E>>);

impl<E> OnceArray<E> {
    /// Makes a place without an array.
    pub(crate) fn absent() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Returns whether the array is there. If it is, this thread has acquired it. Wait-free.
    pub(crate) fn is_there(&self) -> bool {
        !self.load().is_null()
    }

    /// The element at `place`, if the array is there. Wait-free.
    ///
    /// # Safety
    ///
    /// Every array that is installed here has an element at `place`.
    #[inline]
    pub(crate) unsafe fn get(&self, place: usize) -> Option<&E> {
        let head = self.load();
        if head.is_null() {
            return None;
        }
        // SAFETY: the acquired pointer is to an array, whose elements were constructed before it
        // was installed, and neither move nor go before `self` does; `place` is one of them
        // (contract).
        Some(unsafe { &*Head::elements(head).add(place) })
    }

    #[inline]
    fn load(&self) -> *mut Head<E> {
        // ORDERING: Acquire: pairs with the Release of `install`. Without it the elements could be
        // read before the stores that constructed them.
        self.0.load(Ordering::Acquire)
    }

    /// Installs `array`, unless another thread was first: then its array stays, and `array` is
    /// dropped.
    pub(crate) fn install(&self, array: Array<E>) {
        let head = array.leak();
        // ORDERING: success Release: publishes the constructed elements to every `load`. Failure
        // Relaxed: the winner's array is not looked at here; a later `load` acquires it.
        let installed = self.0.compare_exchange(
            ptr::null_mut(),
            head.as_ptr(),
            Ordering::Release,
            Ordering::Relaxed,
        );
        if installed.is_err() {
            // SAFETY: leaked just now; no other thread has ever seen the pointer.
            drop(unsafe { Array::from_leaked(head) });
        }
    }
}

impl<E> Drop for OnceArray<E> {
    fn drop(&mut self) {
        // ORDERING: Relaxed: `&mut self` says that every other thread's access happened before.
        let head = self.0.load(Ordering::Relaxed);
        if let Some(head) = NonNull::new(head) {
            // SAFETY: `install` left it here; what referred to the array borrowed `self`.
            drop(unsafe { Array::from_leaked(head) });
        }
    }
}

/// A value, and the link that the free list threads through it while the index is free.
#[derive(Debug)]
pub(crate) struct Slot<T> {
    pub(crate) link: AtomicU32,
    pub(crate) value: T,
}

/// A way to construct the value of a slot.
pub(crate) enum Make<T> {
    /// By returning it; it is then moved into the slot.
    Value(fn(u32) -> T),
    /// By writing it to its place.
    InPlace(fn(u32, &mut MaybeUninit<T>) -> &mut T),
}

impl<T> Make<T> {
    /// Constructs the slot `index` in its place; on return it is initialized.
    pub(crate) fn construct(&self, index: u32, slot: &mut MaybeUninit<Slot<T>>) {
        let slot = slot.as_mut_ptr();
        // SAFETY: fields of the slot, which is lent exclusively. The value is lent as what it is,
        // uninitialized.
        let value = unsafe {
            (&raw mut (*slot).link).write(AtomicU32::new(index));
            &mut *(&raw mut (*slot).value).cast::<MaybeUninit<T>>()
        };
        match self {
            Self::Value(make) => construct_by_value(*make, index, value),
            Self::InPlace(make) => {
                let place = value.as_ptr();
                let made: *const T = make(index, value);
                // A reference to a `T` in that place proves that it is initialized.
                assert!(ptr::eq(made, place), "constructed in another place");
            }
        }
    }
}

/// Out of line, so that `InPlace` needs no room for a value on the stack.
#[inline(never)]
fn construct_by_value<T>(make: fn(u32) -> T, index: u32, place: &mut MaybeUninit<T>) {
    place.write(make(index));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MAX_BITS, Place};

    fn on_large(index: u32, bits: u32) -> (usize, usize, usize) {
        let place = Place::of(index);
        let (page, slot) = place.on_large(bits);
        (place.shelf, page, slot)
    }

    #[test]
    fn the_first_pages() {
        let places = [0, 1, 2, 3, 6]
            .map(Place::of)
            .map(|place| (place.shelf, place.rest));
        assert_eq!(places, [(0, 0), (1, 0), (1, 1), (2, 0), (2, 3)]);
        let large = [7, 10, 11, 14, 15].map(|index| on_large(index, 2));
        assert_eq!(
            large,
            [(3, 0, 0), (3, 0, 3), (3, 1, 0), (3, 1, 3), (4, 0, 0)]
        );
        assert_eq!(on_large(u32::MAX - 1, 2), (31, (1 << 29) - 1, 3));
        assert_eq!(on_large(u32::MAX, 2), (32, 0, 0));
    }

    proptest! {
        /// The place determines the index, and lies within its shelf; on a large one, within its
        /// page, and that within the shelf.
        #[test]
        fn places_are_distinct(index: u32, bits in 0..=MAX_BITS) {
            let Place { shelf, rest } = Place::of(index);
            prop_assert!(shelf <= 32);
            prop_assert!((rest as u64) < 1 << shelf);
            prop_assert_eq!((1_u64 << shelf) - 1 + rest as u64, u64::from(index));
            if shelf > bits as usize {
                let (_, page, slot) = on_large(index, bits);
                prop_assert!(slot < 1 << bits);
                prop_assert!((page as u64) < 1 << (shelf as u32 - bits));
                prop_assert_eq!((page << bits) + slot, rest);
            }
        }
    }
}
