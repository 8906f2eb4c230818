//! Drops one value after another, also if some destructors panic.

/// Drops each value that `next` gives, until it gives none. If a destructor panics, the others
/// still run; then the first panic goes on, and later ones are forgotten. If the thread was
/// unwinding already, the first one is forgotten too.
///
/// That holds if some crate enables the feature `std`, as every scheduler does. Without it no panic
/// can be caught: the first goes on, and the second aborts, as for the elements of a `Vec`.
///
/// A panic of `next` itself goes on at once.
///
/// ```
/// use std::cell::Cell;
/// use std::panic::{AssertUnwindSafe, catch_unwind};
///
/// struct Loud<'a>(&'a Cell<u32>, bool);
///
/// impl Drop for Loud<'_> {
///     fn drop(&mut self) {
///         self.0.set(self.0.get() + 1);
///         assert!(self.1, "in a destructor");
///     }
/// }
///
/// let dropped = Cell::new(0);
/// let mut values = [true, false, true].into_iter().map(|quiet| Loud(&dropped, quiet));
/// let outcome = catch_unwind(AssertUnwindSafe(|| filch_sync::drop_each(|| values.next())));
/// assert!(outcome.is_err());
/// assert_eq!(dropped.get(), 3);
/// ```
pub fn drop_each<T>(next: impl FnMut() -> Option<T>) {
    each(next);
}

#[cfg(feature = "std")]
fn each<T>(mut next: impl FnMut() -> Option<T>) {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use crate::panic::discard;

    let mut first = None;
    while let Some(value) = next() {
        match catch_unwind(AssertUnwindSafe(|| drop(value))) {
            Err(panic) if first.is_none() => first = Some(panic),
            Err(panic) => discard(panic),
            Ok(()) => {}
        }
    }
    match first {
        Some(panic) if std::thread::panicking() => discard(panic),
        Some(panic) => resume_unwind(panic),
        None => {}
    }
}

#[cfg(not(feature = "std"))]
fn each<T>(next: impl FnMut() -> Option<T>) {
    struct Rest<F: FnMut() -> Option<T>, T>(F);

    // After a panic it drops the others; else there are none.
    impl<F: FnMut() -> Option<T>, T> Drop for Rest<F, T> {
        fn drop(&mut self) {
            while (self.0)().is_some() {}
        }
    }

    let mut rest = Rest(next);
    while (rest.0)().is_some() {}
}
