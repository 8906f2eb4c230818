//! The number of threads of the pools, ours and the rivals'.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads of every pool, unless another number is asked for.
pub(crate) const WORKERS: usize = 2;

/// The number of workers that is asked for; 0: none is.
static ASKED_FOR: AtomicUsize = AtomicUsize::new(0);

/// Threads of every pool that is made from now on and is not told otherwise.
pub(crate) fn workers() -> usize {
    those_or(&[WORKERS])[0]
}

/// The numbers of threads of a scenario that is usually measured with those.
pub(crate) fn those_or(usual: &[usize]) -> Vec<usize> {
    match ASKED_FOR.load(Ordering::Relaxed) {
        0 => usual.to_vec(),
        asked => vec![asked],
    }
}

/// Sets the number for the scenarios that are made from now on.
pub(crate) fn ask_for(workers: usize) {
    ASKED_FOR.store(workers, Ordering::Relaxed);
}
