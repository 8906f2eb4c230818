//! What wakes a future.

use std::sync::Arc;
use std::task::Wake;

use filch_process_table::WakerCount;

use crate::{Handle, Pid, Protocol};

/// What the wakers of a future share; its process and its handle have it too.
///
/// The handle, so that mostly the thread that spawned the future is the one that frees this and its
/// scheduler's handle: else two threads would count at the latter in turns.
pub(crate) struct FutureWaker<P: Protocol> {
    pub(crate) scheduler: Handle<P>,
    pub(crate) pid: Pid,
    count: WakerCount,
}

impl<P: Protocol> FutureWaker<P> {
    /// Of the future whose process has that PID. Its handle is going to have it.
    pub(crate) fn new(scheduler: Handle<P>, pid: Pid) -> Self {
        let count = WakerCount::new();
        Self {
            scheduler,
            pid,
            count,
        }
    }

    /// The handle is about to drop it.
    pub(crate) fn leave_handle(&self) {
        self.count.leave_handle();
    }

    /// How many clones of the waker there are, besides the one in the process, which has `own` of
    /// all. See [`WakerCount::clones`].
    pub(crate) fn clones(self: &Arc<Self>, own: usize) -> usize {
        self.count.clones(own, || Arc::strong_count(self))
    }
}

impl<P: Protocol> Wake for FutureWaker<P> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    /// Running: it is polled once more. Ended: nothing happens, and the slot's next occupant does
    /// not hear of it.
    fn wake_by_ref(self: &Arc<Self>) {
        self.scheduler.nudge(self.pid);
    }
}
