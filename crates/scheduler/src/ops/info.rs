//! What the processes are doing.

use crate::{Handle, Pid, ProcessInfo, Protocol};

impl<P: Protocol> Handle<P> {
    /// What each process that lives is doing; those that come and go meanwhile may be missing.
    pub fn list(&self) -> Vec<ProcessInfo> {
        self.table().iter().map(|process| process.info()).collect()
    }

    /// What the process `pid` is doing, if it lives.
    pub fn info(&self, pid: Pid) -> Option<ProcessInfo> {
        let process = self.table().pin(pid)?;
        process.is_live().then(|| process.info())
    }
}
