//! The model build: loom's doubles.

/// Atomic integers, pointers, fences and orderings.
pub mod atomic {
    pub use loom::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// Shared data that atomics guard.
pub mod cell {
    pub use loom::cell::UnsafeCell;
}

/// What a busy-wait loop tells the processor, or the model checker.
pub mod hint {
    /// Lets another thread of the model run: a spin that does not yield would never end under loom.
    pub fn spin_loop() {
        loom::thread::yield_now();
    }
}

pub use loom::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Threads.
pub mod thread {
    pub use loom::thread::{Builder, JoinHandle, spawn, yield_now};
}
