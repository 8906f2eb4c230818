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

    /// Calls `f` with a pointer to read through. By dereferencing it the caller claims that nobody
    /// writes.
    #[inline(always)]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    /// Calls `f` with a pointer to write through. By dereferencing it the caller claims
    /// exclusivity.
    #[inline(always)]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}

/// Calls `f` with a pointer to the first cell of one run, to read through, one to the first cell of
/// the other, to write through, and the length of the shorter run. The rules of
/// [`UnsafeCell::with`] and [`UnsafeCell::with_mut`] hold for each cell. A checker that watches
/// data makes the call cell by cell.
#[inline(always)]
pub fn with_runs<T>(
    from: &[UnsafeCell<T>],
    to: &[UnsafeCell<T>],
    mut f: impl FnMut(*const T, *mut T, usize),
) {
    let first = core::cell::UnsafeCell::raw_get(to.as_ptr().cast());
    f(from.as_ptr().cast(), first, from.len().min(to.len()));
}
