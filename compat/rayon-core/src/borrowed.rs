//! A reference whose lifetime the type system cannot name: the one unsafe thing in this crate.

#![expect(unsafe_code, reason = "rayon's scopes do not name how long they live")]

use std::ptr::NonNull;

/// A `&T` in a type without a lifetime for it. rayon's `Scope<'scope>` says how long its jobs may
/// borrow, but nothing about the scope's own frame.
#[derive(Debug)]
pub(crate) struct Borrowed<T>(NonNull<T>);

// SAFETY: it is a `&T`, which may change threads if `T` may be shared.
unsafe impl<T: Sync> Send for Borrowed<T> {}

// SAFETY: as above.
unsafe impl<T: Sync> Sync for Borrowed<T> {}

impl<T> Clone for Borrowed<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Borrowed<T> {}

impl<T> Borrowed<T> {
    /// # Safety
    /// Nobody calls [`get`](Self::get), on this or a copy, after `value` is gone or has moved.
    pub(crate) unsafe fn new(value: &T) -> Self {
        Self(NonNull::from(value))
    }

    /// Returns the value that it was made of.
    #[inline]
    pub(crate) fn get(&self) -> &T {
        // SAFETY: the value is there still, says the caller of `new`.
        unsafe { self.0.as_ref() }
    }
}
