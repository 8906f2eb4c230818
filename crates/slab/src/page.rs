//! Pages of doubling size: where the slot of an index lies.
//!
//! Page `p` has room for `2^p` slots and begins at index `2^p - 1`, so that the page of an index is
//! the position of the highest bit of `index + 1`, and the rest of the bits is the place within the
//! page.

use alloc::boxed::Box;
use core::ptr;

use filch_sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Pages that cover every index below [`u32::MAX`].
pub(crate) const PAGES: usize = u32::BITS as usize;

/// One slot: a value, and the link that the free list threads through it while the index is free.
#[derive(Debug)]
pub(crate) struct Slot<T> {
    pub(crate) link: AtomicU32,
    pub(crate) value: T,
}

/// Where an index lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) page: usize,
    pub(crate) offset: usize,
}

impl Place {
    /// The place of `index`, which is below [`u32::MAX`].
    #[inline]
    pub(crate) const fn of(index: u32) -> Self {
        let ordinal = index + 1;
        let page = ordinal.ilog2();
        Self {
            page: page as usize,
            offset: (ordinal - (1 << page)) as usize,
        }
    }
}

/// The pointer to one page: null at first; once it is the page it stays that.
#[derive(Debug)]
pub(crate) struct Page<T>(AtomicPtr<Slot<T>>);

impl<T> Page<T> {
    /// No page yet.
    pub(crate) fn absent() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// The first slot, or null. Wait-free.
    #[inline]
    pub(crate) fn load(&self) -> *const Slot<T> {
        // ORDERING: Acquire: pairs with the Release of `install`. Without it the slots could be
        // read before the stores that constructed them.
        self.0.load(Ordering::Acquire)
    }

    /// Makes this the page of `slots`, unless another thread was first: then its page stays, and
    /// `slots` is dropped.
    pub(crate) fn install(&self, slots: Box<[Slot<T>]>) {
        let len = slots.len();
        let first = Box::into_raw(slots).cast::<Slot<T>>();
        // ORDERING: success Release: publishes the constructed slots to every `load`. Failure
        // Relaxed: the winner's page is not looked at here; a later `load` acquires it.
        let installed =
            self.0
                .compare_exchange(ptr::null_mut(), first, Ordering::Release, Ordering::Relaxed);
        if installed.is_err() {
            // SAFETY: `first` and `len` are of the box taken apart above; the exchange failed, so
            // no other thread has ever seen the pointer.
            drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(first, len)) });
        }
    }

    /// Drops the page, if there is one.
    ///
    /// # Safety
    ///
    /// `len` is the length of the box that was installed, and no reference into the page exists or
    /// will be made.
    pub(crate) unsafe fn free(&mut self, len: usize) {
        // ORDERING: Relaxed: `&mut self` says that every other thread's access happened before.
        let first = self.0.load(Ordering::Relaxed);
        if !first.is_null() {
            // SAFETY: `install` put the pointer of a box of `len` slots here (first condition of
            // the caller); no reference into it is left (the second), and `self` is not used again.
            drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(first, len)) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PAGES, Place};
    use proptest::prelude::*;

    #[test]
    fn the_first_pages() {
        let places = [
            (0, 0, 0),
            (1, 1, 0),
            (2, 1, 1),
            (3, 2, 0),
            (6, 2, 3),
            (7, 3, 0),
        ];
        for (index, page, offset) in places {
            assert_eq!(Place::of(index), Place { page, offset });
        }
        let last = Place::of(u32::MAX - 1);
        assert_eq!((last.page, last.offset), (PAGES - 1, (1 << 31) - 1));
    }

    proptest! {
        /// The place determines the index, and lies within its page.
        #[test]
        fn places_are_distinct(index in 0..u32::MAX) {
            let place = Place::of(index);
            prop_assert!(place.page < PAGES);
            prop_assert!(place.offset < 1 << place.page);
            prop_assert_eq!((1_u64 << place.page) - 1 + place.offset as u64, u64::from(index));
        }
    }
}
