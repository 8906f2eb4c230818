//! The timers that went with what owned them.

use std::mem;

use filch_sync::{Mutex, lock};
use filch_timers::{TimerThread, drop_with_timers};

/// The threads of timers that were dropped with a handler or the hooks: a shutdown waits for them,
/// and nothing else does.
#[derive(Default)]
pub(crate) struct LeftTimers(Mutex<Vec<TimerThread>>);

impl LeftTimers {
    /// Drops `owner`, without waiting for the timers that it had.
    pub(crate) fn drop_owner<T>(&self, owner: T) {
        let left = drop_with_timers(owner);
        lock(&self.0).extend(left);
    }

    /// Those that have come since the last call.
    pub(crate) fn take(&self) -> Vec<TimerThread> {
        mem::take(&mut lock(&self.0))
    }
}
