//! The number of threads of the pools, ours and the rivals'.

use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Threads of every pool, unless a curve over their number is measured.
pub(crate) const WORKERS: usize = 2;

/// The number of workers at a point of a curve; 0: there is no curve.
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

/// Sets the number for the scenarios of a point.
pub(crate) fn ask_for(workers: usize) {
    ASKED_FOR.store(workers, Ordering::Relaxed);
}

/// The points of a curve: those that are asked for; or each number up to 8, then 16, 32, … and as
/// many as there are cores.
pub(crate) fn counts(all: bool, asked: &[usize]) -> Vec<usize> {
    if !all {
        return asked.iter().map(|&count| count.max(1)).collect();
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let doubled = iter::successors(Some(16), |count| Some(2 * count));
    let below = (1..=8).chain(doubled).take_while(|&count| count < cores);
    below.chain([cores]).collect()
}
