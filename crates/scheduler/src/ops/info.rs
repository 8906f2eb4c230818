//! What the processes are doing.

use std::sync::Arc;

use crate::table::Slot;
use crate::{Context, Extension, Handle, Pid, ProcessInfo, Protocol};

impl<P: Protocol> Handle<P> {
    /// What each process that lives is doing; those that come and go meanwhile may be missing.
    pub fn list(&self) -> Vec<ProcessInfo> {
        let extensions = self.shared.extensions.all();
        let processes = self.table().iter();
        processes
            .map(|process| self.look_at(process.slot(), &extensions))
            .collect()
    }

    /// What the process `pid` is doing, if it lives.
    pub fn info(&self, pid: Pid) -> Option<ProcessInfo> {
        let process = self.table().pin(pid)?;
        let extensions = self.shared.extensions.all();
        let is_live = process.is_live();
        is_live.then(|| self.look_at(process.slot(), &extensions))
    }

    /// What a process is doing, and what is known of it beside its slot, on which the caller holds
    /// a pin.
    fn look_at(&self, slot: &Slot<P>, extensions: &[Arc<dyn Extension>]) -> ProcessInfo {
        let pid = self.table().pid_of(slot);
        let mut info = ProcessInfo::of(pid, slot);
        if let Some(policy) = self.policy(slot) {
            info.undelivered = Some(u32::try_from(policy.undelivered()).unwrap_or(u32::MAX));
        }
        let journal = self.shared.journal.as_ref();
        info.details = journal
            .and_then(|journal| journal.details(pid))
            .map(Box::new);
        for extension in extensions {
            extension.add_to(&mut info);
        }
        info
    }
}

impl<P: Protocol> Context<'_, P> {
    /// The process's own figures: how much it has done, and what waits for it.
    pub fn info(&self) -> ProcessInfo {
        let handle = self.handle();
        let extensions = handle.shared.extensions.all();
        handle.look_at(handle.table().slot(self.pid().slot()), &extensions)
    }
}
