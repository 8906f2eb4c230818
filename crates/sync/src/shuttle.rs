//! The build for random schedules: shuttle's doubles.

/// Atomic integers, pointers, fences and orderings.
pub mod atomic {
    pub use shuttle::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// Shared data that atomics guard. Shuttle does not watch data, only schedules: this is the plain
/// cell.
pub mod cell {
    pub use crate::plain_cell::UnsafeCell;
}

/// What a busy-wait loop tells the processor, or the scheduler of the test.
pub mod hint {
    pub use shuttle::hint::spin_loop;

    /// Once is enough: how long a pause is means nothing here, where another thread may run through
    /// between any two steps.
    pub fn pause(times: u32) {
        (0..times.min(1)).for_each(|_| spin_loop());
    }
}

pub use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard};

/// A wait that ends when its time is up, which is whenever the scheduler likes: the lock is let go
/// of and taken again.
pub fn wait_until<'a, T>(
    _condvar: &Condvar,
    mutex: &'a Mutex<T>,
    guard: MutexGuard<'a, T>,
    _deadline: std::time::Instant,
) -> (MutexGuard<'a, T>, bool) {
    drop(guard);
    let guard = mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    (guard, true)
}

#[doc(hidden)]
pub use shuttle::thread_local as model_thread_local;

/// A static of which each thread of the test has its own; see the shipped build's.
#[macro_export]
macro_rules! thread_local {
    ($(#[$attribute:meta])* static $name:ident: $type:ty = $init:expr) => {
        $crate::model_thread_local! { $(#[$attribute])* static $name: $type = $init }
    };
}

/// Threads.
pub mod thread {
    pub use shuttle::thread::{Builder, JoinHandle, current, spawn, yield_now};
}
