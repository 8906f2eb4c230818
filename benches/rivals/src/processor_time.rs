//! The processor time that the process uses.

use std::fs;
use std::time::{Duration, Instant};

/// The processor time that the process uses during `work`, in per cent of what one core has.
pub(crate) fn load(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    let used = used(work);
    100.0 * used.as_secs_f64() / started.elapsed().as_secs_f64()
}

/// The processor time that the process uses during `work`.
pub(crate) fn used(work: impl FnOnce()) -> Duration {
    let before = processor_time();
    work();
    processor_time().saturating_sub(before)
}

/// The processor time of all present threads, as far as the kernel tells it.
fn processor_time() -> Duration {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    let nanoseconds = threads.flatten().filter_map(|thread| {
        // A thread that has just ended has no file.
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanoseconds.sum())
}
