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

/// The processor time of all present threads: in nanoseconds if the kernel tells them, otherwise in
/// ticks of 10 ms.
fn processor_time() -> Duration {
    precise_time().or_else(rough_time).unwrap_or_default()
}

fn precise_time() -> Option<Duration> {
    let mut nanoseconds = 0;
    for thread in fs::read_dir("/proc/self/task").ok()? {
        // A thread that has just ended has no file.
        let Ok(text) = fs::read_to_string(thread.ok()?.path().join("schedstat")) else {
            continue;
        };
        nanoseconds += text.split_whitespace().next()?.parse::<u64>().ok()?;
    }
    (nanoseconds > 0).then(|| Duration::from_nanos(nanoseconds))
}

fn rough_time() -> Option<Duration> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // After the name, which may contain anything: the state is field 3, user and system time are 14
    // and 15.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks(14)? + ticks(15)?)))
}
