//! What a process knows of the world.

use crate::{Handle, Pid, Protocol};

/// What a process knows of the world: its PID, and the scheduler that it lives in.
pub struct Context<'a, P: Protocol> {
    handle: &'a Handle<P>,
    pid: Pid,
}

impl<'a, P: Protocol> Context<'a, P> {
    #[inline]
    pub(crate) fn new(handle: &'a Handle<P>, pid: Pid) -> Self {
        Self { handle, pid }
    }

    /// The process's PID, for others to send to.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Whether the process is a [future](Handle::spawn), or an [async
    /// function](Handle::spawn_with): for [hooks](crate::LifeCycle).
    pub fn is_future(&self) -> bool {
        let table = self.handle.table();
        table.slot(self.pid.slot()).is_future()
    }

    /// The scheduler, to keep beyond the call.
    pub fn handle(&self) -> &'a Handle<P> {
        self.handle
    }
}

crate::protocol::debug_fields!(Context<'_, P>, "Context", pid);
