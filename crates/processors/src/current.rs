//! How a thread knows that it is one of ours: work that becomes runnable on it goes to its own deque.

use std::cell::Cell;
use std::ptr::{self, NonNull};

use filch_deque::Worker;
use filch_sync::thread_local;

use crate::Processors;
use crate::stats::Counters;

/// What a machine shows of itself to the code that it runs.
pub(crate) struct Current<'machine, T> {
    pub(crate) worker: &'machine Worker<T>,
    pub(crate) counters: &'machine Counters,
}

/// The pool that the thread works for, and its `Current<'_, T>`, the `T` erased.
#[derive(Clone, Copy)]
struct Registration {
    pool: *const (),
    current: NonNull<()>,
}

thread_local! {
    static REGISTRATION: Cell<Option<Registration>> = Cell::new(None)
}

/// Registers the thread as a machine of `pool` while `work` runs.
pub(crate) fn enter<T, R>(
    pool: &Processors<T>,
    current: &Current<'_, T>,
    work: impl FnOnce() -> R,
) -> R {
    /// Puts back what was there, also when `work` unwinds.
    struct Restore(Option<Registration>);

    impl Drop for Restore {
        fn drop(&mut self) {
            REGISTRATION.with(|current| current.set(self.0));
        }
    }

    let registration = Registration {
        pool: ptr::from_ref(pool).cast(),
        current: NonNull::from(current).cast(),
    };
    let _restore = Restore(REGISTRATION.with(|current| current.replace(Some(registration))));
    work()
}

/// Whether the thread is a machine of `pool`.
pub(crate) fn is_current<T>(pool: &Processors<T>) -> bool {
    REGISTRATION
        .with(Cell::get)
        .is_some_and(|registration| ptr::eq(registration.pool, ptr::from_ref(pool).cast()))
}

/// Calls `with` with the thread's own processor, if the thread is a machine of `pool`.
pub(crate) fn with_current<T, R>(
    pool: &Processors<T>,
    with: impl FnOnce(&Current<'_, T>) -> R,
) -> Option<R> {
    let registration = REGISTRATION.with(Cell::get)?;
    if !ptr::eq(registration.pool, ptr::from_ref(pool).cast()) {
        return None;
    }
    // SAFETY: the registration is this thread's own, made by `enter`, whose borrow of the `Current` lasts until
    // the registration is gone. Its type is right: the pool's address is equal, `pool` is alive now and was
    // alive when the registration was made and ever since (`enter` borrows it too), so it is the same
    // pool, with the same `T`. The reference does not outlive the call.
    let current = unsafe { registration.current.cast::<Current<'_, T>>().as_ref() };
    Some(with(current))
}
