//! What the processes are doing.

use crate::table::Slot;
use crate::{Context, Handle, Pid, ProcessInfo, Protocol};

impl<P: Protocol> Handle<P> {
    /// What each process that lives is doing; those that come and go meanwhile may be missing.
    pub fn list(&self) -> Vec<ProcessInfo> {
        let processes = self.table().iter();
        processes
            .map(|process| self.look_at(process.slot()))
            .collect()
    }

    /// What the process `pid` is doing, if it lives.
    pub fn info(&self, pid: Pid) -> Option<ProcessInfo> {
        let process = self.table().pin(pid)?;
        process.is_live().then(|| self.look_at(process.slot()))
    }

    /// What a process is doing, and what is known of it beside its slot, on which the caller holds
    /// a pin.
    fn look_at(&self, slot: &Slot<P>) -> ProcessInfo {
        let pid = self.table().pid_of(slot);
        let mut info = ProcessInfo::of(pid, slot);
        self.count_latest(slot, &mut info);
        let journal = self.shared.journal.as_ref();
        info.details = journal
            .and_then(|journal| journal.details(pid))
            .map(Box::new);
        info
    }

    /// Of a mailbox that keeps the latest messages, how many there are.
    fn count_latest(&self, slot: &Slot<P>, info: &mut ProcessInfo) {
        if let Some(policy) = self.policy(slot) {
            info.undelivered = Some(policy.undelivered() as u32);
        }
    }
}

impl<P: Protocol> Context<'_, P> {
    /// The process's own figures: how much it has done, and what waits for it.
    pub fn info(&self) -> ProcessInfo {
        let handle = self.handle();
        handle.look_at(handle.table().slot(self.pid().slot()))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Context, LifeCycle, Protocol, Scheduler, SubmitError, from_fn};

    enum Any {}

    impl Protocol for Any {
        type Input = ();
        type Message = ();
        type Command = ();
        type Reply = ();
        type Output = ();
        type Error = String;
    }

    struct NamelessOnly;

    impl LifeCycle<Any> for NamelessOnly {
        fn on_start(&self, context: &Context<'_, Any>) -> Result<(), String> {
            match context.info().names.is_empty() {
                true => Ok(()),
                false => Err("no names here".to_owned()),
            }
        }
    }

    /// A failure: an entry is left, which is memory that grows with each process.
    #[test]
    fn the_journal_forgets_what_has_ended() {
        let scheduler = Scheduler::<Any>::builder().workers(1).journal(true);
        let scheduler = scheduler.hooks(NamelessOnly).build().unwrap();
        let noted = || {
            scheduler
                .shared
                .journal
                .as_ref()
                .map(|journal| journal.len())
        };
        let idle = || from_fn(|_, _, _| Ok(()));
        let process = scheduler.submit(idle(), "run", ()).unwrap();
        let future = scheduler.spawn(std::future::pending::<()>()).unwrap();
        assert_eq!(noted(), Some(2));
        let refused = scheduler.submission(idle(), "run", ()).name("named");
        assert!(matches!(refused.submit(), Err(SubmitError::Hook(_))));
        assert_eq!(noted(), Some(2));
        scheduler.terminate(process.pid()).unwrap();
        process.join().unwrap_err();
        future.abort();
        future.join().unwrap_err();
        assert_eq!(noted(), Some(0));
    }
}
