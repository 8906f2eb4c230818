//! What wakes a future.

use std::sync::Arc;
use std::task::Wake;

use crate::{Handle, Pid, Protocol};

/// The PID of a future's process, and its scheduler: both the waker and the handle need it.
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
