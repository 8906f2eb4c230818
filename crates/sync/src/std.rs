//! The shipped build: the standard library, re-exported, and a cell in loom's shape that compiles to nothing.

/// Atomic integers, pointers, fences and orderings.
pub mod atomic {
    pub use core::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// Shared data that atomics guard.
pub mod cell {
    pub use crate::plain_cell::UnsafeCell;
}

/// What a busy-wait loop tells the processor, or the model checker.
pub mod hint {
    pub use core::hint::spin_loop;
}

pub use alloc::sync::Arc;

#[cfg(feature = "std")]
pub use std::sync::{Condvar, Mutex, MutexGuard};

/// Threads.
#[cfg(feature = "std")]
pub mod thread {
    pub use std::thread::{Builder, JoinHandle, spawn, yield_now};
}
