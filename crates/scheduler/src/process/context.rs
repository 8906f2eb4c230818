//! What a process knows of the world.

use std::ops::Deref;

use crate::table::pinned::Pinned;
use crate::table::slot::Slot;
use crate::{Handle, Pid, Protocol};

/// What a process knows of the world: its PID, and the scheduler that it lives in.
pub struct Context<'a, P: Protocol> {
    handle: &'a Handle<P>,
    slot: &'a Slot<P>,
    /// Here and not asked for: it is mostly copied into a message, and to read what was written
    /// right before, in pieces, takes as long as an exchange.
    pid: Pid,
}

impl<'a, P: Protocol> Context<'a, P> {
    /// Of the process in that slot.
    ///
    /// # Safety
    /// The slot is of that scheduler's table. The caller has the process in it, or pins it, for as
    /// long as the result is there.
    #[inline]
    pub(crate) unsafe fn new(handle: &'a Handle<P>, slot: &'a Slot<P>) -> Self {
        let pid = handle.table().pid_of(slot);
        Self { handle, slot, pid }
    }

    /// A pin on the process's slot.
    #[inline]
    pub(crate) fn pin(&self) -> Pinned<P> {
        // SAFETY: the contract of `new`.
        unsafe { Pinned::share(self.slot) }
    }

    #[inline]
    pub(crate) fn slot(&self) -> &'a Slot<P> {
        self.slot
    }

    /// The process's PID, for others to send to.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Whether the process was submitted [as a future](crate::Submission::future): for
    /// [hooks](crate::LifeCycle).
    pub fn is_future(&self) -> bool {
        self.slot.is_future()
    }

    /// The scheduler, to keep beyond the call.
    pub fn handle(&self) -> &'a Handle<P> {
        self.handle
    }
}

impl<P: Protocol> Deref for Context<'_, P> {
    type Target = Handle<P>;

    #[inline]
    fn deref(&self) -> &Handle<P> {
        self.handle
    }
}

crate::protocol::debug_fields!(Context<'_, P>, "Context", pid);
