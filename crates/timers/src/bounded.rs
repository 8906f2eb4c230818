//! A value with a deadline: the first to take it gets it.

use std::fmt;

use filch_promise::TakeOnce;

use crate::timers::TimerGuard;

/// A value until its deadline; from [`Timers::bound`](crate::Timers::bound).
///
/// The deadline races with [`take`](Self::take): one of the two gets the value. Dropping this drops
/// the value, if it is still there, and cancels the timer.
#[must_use = "dropping it drops the value"]
pub struct Bounded<T> {
    /// Until it is taken.
    value: Option<TakeOnce<T>>,
    limit: TimerGuard,
}

/// The deadline's end of the value.
pub(crate) struct Limit<T>(Option<TakeOnce<T>>);

impl<T> Limit<T> {
    pub(crate) fn new(value: TakeOnce<T>) -> Self {
        Self(Some(value))
    }

    pub(crate) fn reached(mut self, call: impl FnOnce(T)) {
        if let Some(value) = self.0.take().and_then(TakeOnce::take) {
            call(value);
        }
    }
}

impl<T> Drop for Limit<T> {
    /// Drops the value too: without a timer nothing would keep the deadline.
    fn drop(&mut self) {
        drop(self.0.take().and_then(TakeOnce::take));
    }
}

impl<T> Bounded<T> {
    pub(crate) fn new(value: TakeOnce<T>, limit: TimerGuard) -> Self {
        Self {
            value: Some(value),
            limit,
        }
    }

    /// Takes the value; `None` if the deadline came first, or the timers were shut down since.
    /// Wait-free.
    pub fn take(mut self) -> Option<T> {
        self.value.take().and_then(TakeOnce::take)
    }
}

impl<T> Drop for Bounded<T> {
    fn drop(&mut self) {
        drop(self.value.take().and_then(TakeOnce::take));
    }
}

impl<T> fmt::Debug for Bounded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounded")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
