//! Names for processes that others look for.

use crate::{Handle, Pid, Protocol, RegisterError};

impl<P: Protocol> Handle<P> {
    /// Gives the process `pid` of this scheduler a name, until it ends. A process may have many.
    /// Takes a lock for a moment.
    ///
    /// The example `log_server` of this crate has a process that others find by its name.
    ///
    /// # Errors
    /// [`RegisterError`], if a live process has that name, or the process has ended or is of
    /// another scheduler.
    pub fn register(&self, name: &str, pid: Pid) -> Result<(), RegisterError> {
        self.shared.names.register(self.table(), name, pid)
    }

    /// Takes a name away. Returns the process that had it, if a live one had. Takes a lock for a
    /// moment.
    pub fn unregister(&self, name: &str) -> Option<Pid> {
        let removed = self.shared.names.remove(name);
        removed.filter(|&pid| self.table().lives(pid))
    }

    /// The process of that name, if it lives. Takes a shared lock for a moment.
    pub fn whereis(&self, name: &str) -> Option<Pid> {
        let holder = self.shared.names.holder(name);
        holder.filter(|&pid| self.table().lives(pid))
    }
}
