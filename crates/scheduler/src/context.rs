use std::fmt;

use crate::{
    Handle, Link, Monitor, NoSuchProcess, Pid, Process, ProcessHandle, Protocol, SendError,
    SubmitError,
};

/// What a process knows of the world: who it is, and the scheduler that it lives in.
pub struct Context<'a, P: Protocol> {
    handle: &'a Handle<P>,
    pid: Pid,
}

impl<'a, P: Protocol> Context<'a, P> {
    pub(crate) fn new(handle: &'a Handle<P>, pid: Pid) -> Self {
        Self { handle, pid }
    }

    /// For a step of the process that lives in `slot` in that generation.
    #[inline]
    pub(crate) fn of(handle: &'a Handle<P>, slot: u32, generation: u32) -> Self {
        Self {
            handle,
            pid: handle.table().pid(slot, generation),
        }
    }

    /// The process's own PID, for others to send to.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// The scheduler, to keep beyond the call.
    pub fn handle(&self) -> &'a Handle<P> {
        self.handle
    }

    /// Sends a message, also to itself: it arrives at a later step. See [`Handle::send`].
    ///
    /// # Errors
    /// As [`Handle::send`].
    pub fn send(&self, to: Pid, message: P::Message) -> Result<(), SendError<P>> {
        self.handle.send(to, message)
    }

    /// Has this process told of the end of `watched`. See [`Handle::monitor`].
    pub fn monitor(&self, watched: Pid) -> Monitor {
        self.handle.monitor(self.pid, watched)
    }

    /// Ties this process and another together. See [`Handle::link`].
    pub fn link(&self, other: Pid) -> Link {
        self.handle.link(self.pid, other)
    }

    /// Ends a process, perhaps this one. See [`Handle::terminate`].
    ///
    /// # Errors
    /// As [`Handle::terminate`].
    pub fn terminate(&self, pid: Pid) -> Result<(), NoSuchProcess> {
        self.handle.terminate(pid)
    }

    /// Submits a process. See [`Handle::submit`].
    ///
    /// # Errors
    /// As [`Handle::submit`].
    pub fn submit(
        &self,
        process: impl Process<P> + 'static,
        method: &str,
        input: P::Input,
    ) -> Result<ProcessHandle<P>, SubmitError<P>> {
        self.handle.submit(process, method, input)
    }
}

impl<P: Protocol> fmt::Debug for Context<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}
