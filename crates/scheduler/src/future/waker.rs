//! What wakes a future.

use std::sync::Arc;
use std::task::Wake;

use crate::{Handle, Pid, Protocol};

/// What the wakers of a future share; its process and its handle have it too.
///
/// The handle, so that mostly the thread that spawned the future is the one that frees this and its
/// scheduler's handle: else two threads would count at the latter in turns. With the counts of an
/// `Arc` it is what glibc has in a piece of 48 bytes: one word more takes 64.
pub(crate) struct FutureWaker<P: Protocol> {
    pub(crate) scheduler: Handle<P>,
    pub(crate) pid: Pid,
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
