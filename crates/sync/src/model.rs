//! The model builds: the doubles of a checker, which is loom or shuttle.

#[cfg(all(loom, feature = "loom"))]
use loom as checker;
#[cfg(not(all(loom, feature = "loom")))]
use shuttle as checker;

/// Atomic integers, pointers, fences and orderings.
pub mod atomic {
    #[cfg(not(all(loom, feature = "loom")))]
    pub use super::checker::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
    #[cfg(all(loom, feature = "loom"))]
    pub use crate::recorded::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// Shared data that atomics guard.
pub mod cell {
    #[cfg(all(loom, feature = "loom"))]
    pub use crate::recorded::UnsafeCell;

    /// Shuttle watches schedules, not data: the plain cell will do.
    #[cfg(not(all(loom, feature = "loom")))]
    pub use crate::plain_cell::{UnsafeCell, with_runs};

    /// Calls `f` with each cell of two runs, one by one, so that loom sees each access.
    #[cfg(all(loom, feature = "loom"))]
    pub fn with_runs<T>(
        from: &[UnsafeCell<T>],
        to: &[UnsafeCell<T>],
        mut f: impl FnMut(*const T, *mut T, usize),
    ) {
        for (from, to) in from.iter().zip(to) {
            from.with(|from| to.with_mut(|to| f(from, to, 1)));
        }
    }
}

/// A pair of fences: in a model both are sequentially consistent.
pub mod asymmetric {
    use std::cell::Cell;

    use super::atomic::{Ordering, fence};

    pub use crate::refused::Refused;

    std::thread_local! {
        /// Set in a model that must fail: the heavy fence does nothing. A checker runs all threads
        /// of a model on one system thread, so a model on another thread keeps its fences.
        #[doc(hidden)]
        pub static WITHOUT_HEAVY: Cell<bool> = const { Cell::new(false) };

        /// Set in a model without heavy fences: the light one does nothing. loom treats it as a
        /// fence that releases and acquires, which would hide a missing ordering beside it.
        #[doc(hidden)]
        pub static WITHOUT_LIGHT: Cell<bool> = const { Cell::new(false) };

        /// Set in a model of a process to which the system refuses heavy fences.
        #[doc(hidden)]
        pub static REFUSED: Cell<bool> = const { Cell::new(false) };
    }

    /// Does nothing: a model has heavy fences, unless it is about their lack.
    pub fn register() -> bool {
        is_available()
    }

    /// Does nothing, as `register`.
    pub fn register_aside() {}

    /// Returns whether the model has heavy fences.
    pub fn is_available() -> bool {
        !REFUSED.get()
    }

    /// Returns 0: nobody counts the fences of a model.
    pub fn heavy_fences() -> u64 {
        0
    }

    /// The light fence; as strong as the heavy one in a model.
    pub fn light() {
        if !WITHOUT_LIGHT.get() && is_available() {
            fence(Ordering::SeqCst);
        }
    }

    /// The heavy fence.
    ///
    /// # Errors
    ///
    /// [`Refused::ForGood`], in a model without heavy fences.
    pub fn heavy() -> Result<(), Refused> {
        if !is_available() {
            return Err(Refused::ForGood);
        }
        assert!(!WITHOUT_LIGHT.get(), "a heavy fence without its partner");
        if !WITHOUT_HEAVY.get() {
            fence(Ordering::SeqCst);
        }
        Ok(())
    }
}

/// Hints of busy-wait loops to the checker.
pub mod hint {
    /// Lets another thread of the model run: a spin that does not yield would never end.
    pub use super::checker::hint::spin_loop;

    /// Yields once at most: the length of a pause means nothing where another thread may run
    /// between any two steps.
    pub fn pause(times: u32) {
        (0..times.min(1)).for_each(|_| spin_loop());
    }

    /// Does nothing: the checker gives others time wherever it matters, and a yield would keep it
    /// from trying runs without one.
    pub fn linger(_times: u32) {}

    /// As [`linger`]; calls `is_over` once.
    pub fn linger_until(_times: u32, mut is_over: impl FnMut() -> bool) -> bool {
        is_over()
    }
}

#[cfg(all(loom, feature = "loom"))]
pub use crate::recorded::{Condvar, Mutex};
pub use checker::sync::{Arc, MutexGuard};
#[cfg(not(all(loom, feature = "loom")))]
pub use checker::sync::{Condvar, Mutex};

/// A wait that ends when its time is up, which the checker decides: it may run other threads while
/// the lock is free.
pub fn wait_until<'a, T>(
    condvar: &Condvar,
    mutex: &'a Mutex<T>,
    guard: MutexGuard<'a, T>,
    deadline: Option<std::time::Instant>,
) -> (MutexGuard<'a, T>, bool) {
    let locked = if deadline.is_some() {
        drop(guard);
        mutex.lock()
    } else {
        condvar.wait(guard)
    };
    let guard = locked.unwrap_or_else(std::sync::PoisonError::into_inner);
    (guard, deadline.is_some())
}

#[doc(hidden)]
pub use checker::thread_local as model_thread_local;

/// A static of which each thread of the model has its own; see the shipped build's.
#[macro_export]
macro_rules! thread_local {
    ($(#[$attribute:meta])* static $name:ident: $type:ty = $init:expr) => {
        $crate::model_thread_local! { $(#[$attribute])* static $name: $type = $init }
    };
}

/// Threads.
pub mod thread {
    #[cfg(not(all(loom, feature = "loom")))]
    pub use super::checker::thread::{Builder, JoinHandle, spawn};
    pub use super::checker::thread::{Thread, current, yield_now};
    #[cfg(all(loom, feature = "loom"))]
    pub use crate::recorded::{Builder, JoinHandle, spawn};

    /// Yields the thread. A model has as many cores as threads.
    pub fn yield_unless_busy() -> bool {
        yield_now();
        false
    }
}

/// The time.
pub mod time {
    use std::cell::Cell;
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};

    /// 100 µs later each time it is asked for in a model: an execution with the same schedule sees
    /// the same times.
    pub fn now() -> Instant {
        static START: OnceLock<Instant> = OnceLock::new();
        std::thread_local! {
            /// The checkers run all threads of a model on one.
            static READINGS: Cell<u64> = const { Cell::new(0) };
        }

        READINGS.set(READINGS.get() + 1);
        *START.get_or_init(Instant::now) + Duration::from_micros(100 * READINGS.get())
    }
}
