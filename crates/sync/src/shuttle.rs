//! The build for random schedules: shuttle's doubles.

/// Atomic integers, pointers, fences and orderings.
pub mod atomic {
    pub use shuttle::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// Shared data that atomics guard. Shuttle does not watch data, only schedules: this is the plain cell.
pub mod cell {
    pub use crate::plain_cell::UnsafeCell;
}

/// What a busy-wait loop tells the processor, or the scheduler of the test.
pub mod hint {
    pub use shuttle::hint::spin_loop;
}

pub use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Threads.
pub mod thread {
    pub use shuttle::thread::{Builder, JoinHandle, spawn, yield_now};
}
