//! An array that is installed once, for all threads.

use core::ptr::{self, NonNull};

use filch_sync::atomic::{AtomicPtr, Ordering};

use crate::array::{Array, Head};

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
