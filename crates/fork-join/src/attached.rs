//! The worker of the calling thread, also if that is one of another scheduler's, to whose threads a
//! pool is attached, and has not run a job yet.

use filch_processors::with_source;

use crate::current;
use crate::source::Jobs;
use crate::worker::Worker;

/// Calls `with` with the thread's worker, if it is a thread of a pool.
#[inline(always)]
pub(crate) fn with<R>(with: impl FnOnce(Option<&Worker>) -> R) -> R {
    current::with_after(sit_down, with)
}

/// Seats the thread, if it is one of a scheduler's that has a pool attached.
#[cold]
#[inline(never)]
fn sit_down() {
    with_source(|jobs: &Jobs| current::with_worker(&jobs.shared, |_| ()));
}
