//! A frame in which something lies that other threads have.

use std::{mem, process};

use crate::latch::Awaited;

/// Calls `wait`, which returns when what lies in the caller's frame is done. If it does not keep to
/// that, or unwinds, the program ends: another thread would run a job in a frame that is gone.
#[inline(always)]
pub(crate) fn lend<R>(awaited: &impl Awaited, wait: impl FnOnce() -> R) -> R {
    struct Abort;

    impl Drop for Abort {
        #[cold]
        #[inline(never)]
        fn drop(&mut self) {
            eprintln!("a job was to be waited for, and was not: the program ends");
            process::abort();
        }
    }

    let abort = Abort;
    let result = wait();
    match awaited.is_done() {
        true => mem::forget(abort),
        false => drop(abort),
    }
    result
}
