//! The cell of the builds that do not watch data: it compiles to nothing.

/// [`core::cell::UnsafeCell`] in loom's shape: an access is a closure, so that loom sees where it
/// begins and ends.
#[derive(Debug)]
#[repr(transparent)]
pub struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// Wraps `value`.
    pub const fn new(value: T) -> Self {
        Self(core::cell::UnsafeCell::new(value))
    }

    /// Calls `f` with a pointer to read through. Dereferencing it is the caller's claim that nobody
    /// writes.
    #[inline(always)]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    /// Calls `f` with a pointer to write through. Dereferencing it is the caller's claim of
    /// exclusivity.
    #[inline(always)]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}
