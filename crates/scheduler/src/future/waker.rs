//! What wakes a future.

use std::sync::Arc;
use std::task::Wake;

use crate::{Handle, Pid, Protocol};

/// What the wakers of a future share, and nothing else does: how many there are is how many clones
/// of its waker there are.
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
