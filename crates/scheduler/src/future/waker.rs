//! What wakes a future.

use std::sync::Arc;
use std::task::Wake;

use filch_sync::atomic::{AtomicBool, Ordering, fence};

use crate::{Handle, Pid, Protocol};

/// What the wakers of a future share; its process and its handle have it too.
///
/// The handle, so that mostly the thread that spawned the future is the one that frees this and its
/// scheduler's handle: else two threads would count at the latter in turns.
pub(crate) struct FutureWaker<P: Protocol> {
    pub(crate) scheduler: Handle<P>,
    pub(crate) pid: Pid,
    /// Whether the future's handle has it.
    in_handle: AtomicBool,
}

impl<P: Protocol> FutureWaker<P> {
    /// Of the future whose process has that PID. Its handle is going to have it.
    pub(crate) fn new(scheduler: Handle<P>, pid: Pid) -> Self {
        let in_handle = AtomicBool::new(true);
        Self {
            scheduler,
            pid,
            in_handle,
        }
    }

    /// The handle is about to drop it.
    pub(crate) fn leave_handle(&self) {
        // ORDERING: Release, partner of the fence in `clones`, by the count that goes down after
        // this.
        self.in_handle.store(false, Ordering::Release);
    }

    /// How many clones of the waker there are, besides the one in the process, which has `own` of
    /// all. At most one too many, while the handle is dropped.
    pub(crate) fn clones(self: &Arc<Self>, own: usize) -> usize {
        let others = Arc::strong_count(self) - own;
        // ORDERING: Acquire, partner of the Release with which the handle's count went down: if it
        // is not counted any more, it is not seen to be there. (A fence, as the standard library
        // counts by a Relaxed load.)
        fence(Ordering::Acquire);
        // ORDERING: Relaxed: by the fence.
        others.saturating_sub(usize::from(self.in_handle.load(Ordering::Relaxed)))
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
