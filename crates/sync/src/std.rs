//! The shipped build: the standard library, re-exported.

/// Atomic integers, pointers, fences and orderings.
pub mod atomic {
    #[cfg(target_has_atomic = "64")]
    pub use core::sync::atomic::AtomicU64;
    pub use core::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering, fence,
    };
}

/// Shared data that atomics guard.
pub mod cell {
    pub use crate::plain_cell::{UnsafeCell, with_runs};
}

#[cfg(target_has_atomic = "64")]
#[path = "asymmetric/mod.rs"]
pub mod asymmetric;

/// Hints of busy-wait loops to the processor.
pub mod hint {
    pub use core::hint::spin_loop;

    /// Tells the processor that this thread only waits, once for each of `times`.
    #[inline]
    pub fn pause(times: u32) {
        (0..times).for_each(|_| spin_loop());
    }

    /// As [`pause`], for a wait that only gives other threads time.
    #[inline]
    pub fn linger(times: u32) {
        pause(times);
    }

    /// Lingers until `is_over` returns true, called after every 8 pauses. Returns whether it did.
    #[inline]
    pub fn linger_until(times: u32, mut is_over: impl FnMut() -> bool) -> bool {
        (0..times.div_ceil(8)).any(|_| {
            pause(8);
            is_over()
        })
    }
}

#[cfg(feature = "alloc")]
pub use alloc::sync::Arc;

#[cfg(feature = "std")]
pub use std::sync::{Condvar, Mutex, MutexGuard};

/// Waits on `condvar` with `guard`, which locks `mutex`, until a notification, a spurious wake-up
/// the `deadline`, if there is one. Returns the lock, and whether the deadline has passed.
///
/// It is no method of `Condvar`, and takes the mutex too, because of the model builds: they have no
/// time, so there a timed wait ends by itself, whenever the checker decides.
#[cfg(feature = "std")]
pub fn wait_until<'a, T>(
    condvar: &Condvar,
    _mutex: &'a Mutex<T>,
    guard: MutexGuard<'a, T>,
    deadline: Option<std::time::Instant>,
) -> (MutexGuard<'a, T>, bool) {
    let Some(deadline) = deadline else {
        let woken = condvar.wait(guard);
        let guard = woken.unwrap_or_else(std::sync::PoisonError::into_inner);
        return (guard, false);
    };
    let left = deadline.saturating_duration_since(std::time::Instant::now());
    if left.is_zero() {
        // Not worth a system call, which would sleep for its timer's slack at least.
        return (guard, true);
    }
    let woken = condvar.wait_timeout(guard, left);
    let (guard, _) = woken.unwrap_or_else(std::sync::PoisonError::into_inner);
    // Read the clock again: the wait may have ended spuriously just before its time.
    (guard, std::time::Instant::now() >= deadline)
}

/// Threads.
#[cfg(feature = "std")]
pub mod thread {
    pub use std::thread::{Builder, JoinHandle, Thread, current, spawn, yield_now};
    use std::time::{Duration, Instant};

    use super::atomic::{AtomicU32, Ordering};

    /// Longer than a system call and an interrupt take, and shorter than a time slice.
    const SLICE: Duration = Duration::from_micros(50);

    /// Calls in which the cores are taken for busy, after one that has found them so.
    const CALLS: u32 = 64;

    /// The number of these calls that are left.
    static BUSY: AtomicU32 = AtomicU32::new(0);

    /// Yields the thread, unless that would cost a time slice, as the yield of some thread has just
    /// before: more threads are busy than there are cores. Returns whether this is so.
    pub fn yield_unless_busy() -> bool {
        // ORDERING: Relaxed, as below: a hint, by which nothing is published. A lost count is a
        // yield more or less.
        let left = BUSY.load(Ordering::Relaxed);
        if left > 0 {
            BUSY.store(left - 1, Ordering::Relaxed);
            return true;
        }
        let before = Instant::now();
        yield_now();
        let is_busy = before.elapsed() > SLICE;
        if is_busy {
            BUSY.store(CALLS, Ordering::Relaxed);
        }
        is_busy
    }
}

/// The time.
#[cfg(feature = "std")]
pub mod time {
    use std::time::Instant;

    /// Returns the time of the system's monotonic clock.
    #[inline]
    pub fn now() -> Instant {
        Instant::now()
    }
}

/// Without a system there are no threads: instead of yielding, the processor pauses.
#[cfg(not(feature = "std"))]
pub mod thread {
    pub use core::hint::spin_loop as yield_now;

    /// Pauses; there are no others.
    pub fn yield_unless_busy() -> bool {
        yield_now();
        false
    }
}

/// A static of which each thread has its own, with a constant initial value. Call only `with` on
/// it: the model builds offer nothing else.
#[cfg(feature = "std")]
#[macro_export]
macro_rules! thread_local {
    ($(#[$attribute:meta])* static $name:ident: $type:ty = $init:expr) => {
        ::std::thread_local! { $(#[$attribute])* static $name: $type = const { $init } }
    };
}
