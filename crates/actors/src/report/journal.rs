//! The journal: what is known of each process beside its slot.

use std::collections::HashMap;
use std::fmt;

use filch_scheduler::{Observer, Pid, ProcessDetails};
use filch_sync::{Arc, CachePadded, Mutex, MutexGuard, lock};

use crate::report::entry::{Entry, NotedCall};

/// Notes of each process its type, its age, its parent, and the commands and calls that it has
/// under way, with their ages; they are its [details](filch_scheduler::ProcessInfo::details) in
/// reports.
///
/// A scheduler has one only if it was [given](filch_scheduler::Builder::observer) it:
/// `builder.observer(Journal::default())`. It takes a lock for a moment for each process that
/// begins or ends, and two for each command; none for a message. There are several locks, by slot.
///
/// Clones share the notes.
#[derive(Clone, Default)]
pub struct Journal(Arc<Shards>);

/// By slot.
type Shards = [CachePadded<Mutex<HashMap<Pid, Entry>>>; SHARDS];

/// So many that two workers rarely meet.
const SHARDS: usize = 16;

impl Journal {
    fn shard(&self, pid: Pid) -> MutexGuard<'_, HashMap<Pid, Entry>> {
        lock(&self.0[pid.slot() as usize % SHARDS])
    }
}

impl Observer for Journal {
    /// A process begins, which was submitted by `parent`.
    fn begin(&self, pid: Pid, type_name: &'static str, parent: Option<Pid>) {
        self.shard(pid).insert(pid, Entry::new(type_name, parent));
    }

    /// It goes on as another type.
    fn replace(&self, pid: Pid, type_name: &'static str) {
        if let Some(entry) = self.shard(pid).get_mut(&pid) {
            entry.type_name = type_name;
        }
    }

    /// It has ended.
    fn end(&self, pid: Pid) {
        self.shard(pid).remove(&pid);
    }

    /// A command of it begins. Its number, by which the others know it.
    fn begin_command(&self, pid: Pid, tag: u64) -> u64 {
        let mut shard = self.shard(pid);
        let entry = shard.get_mut(&pid);
        entry.map_or(0, |entry| entry.begin_command(tag))
    }

    /// That command calls the process `to`.
    fn note_call(&self, pid: Pid, number: u64, to: Pid, is_limited: bool) {
        if let Some(entry) = self.shard(pid).get_mut(&pid) {
            entry.note_call(number, NotedCall { to, is_limited });
        }
    }

    /// That command is completed. Perhaps its process has ended before.
    fn end_command(&self, pid: Pid, number: u64) {
        if let Some(entry) = self.shard(pid).get_mut(&pid) {
            entry.end_command(number);
        }
    }

    /// What is known of the process, if it has not ended.
    fn details(&self, pid: Pid) -> Option<ProcessDetails> {
        self.shard(pid).get(&pid).map(Entry::details)
    }

    /// The name of its type.
    fn type_name(&self, pid: Pid) -> Option<&'static str> {
        self.shard(pid).get(&pid).map(|entry| entry.type_name)
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use filch_scheduler::{
        Context, LifeCycle, Observer, Protocol, Scheduler, SubmitError, from_fn,
    };
    use filch_sync::lock;

    use super::Journal;
    use crate::prelude::*;

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

    /// Two commands with one tag, of which the younger is completed first; and what comes for a
    /// process that has ended.
    #[test]
    fn a_command_is_known_by_its_number_and_not_by_its_tag() {
        let scheduler = Scheduler::<Any>::builder().workers(1).build().unwrap();
        let idle = || from_fn(|_, _, _| Ok(()));
        let new = || scheduler.submit(idle(), "run", ()).unwrap().pid();
        let (pid, callee) = (new(), new());
        let journal = Journal::default();
        journal.begin(pid, "First", Some(callee));
        let older = journal.begin_command(pid, 7);
        let younger = journal.begin_command(pid, 7);
        journal.note_call(pid, older, callee, true);
        journal.end_command(pid, younger);
        journal.end_command(pid, younger);
        journal.replace(pid, "Second");
        let details = journal.details(pid).unwrap();
        assert_eq!(details.type_name, "Second");
        assert_eq!(details.parent, Some(callee));
        let [command] = &details.commands[..] else {
            panic!("{details:?}");
        };
        assert_eq!((command.tag, command.calls), (7, Some(callee)));
        assert!(command.is_limited && command.age <= details.age);
        journal.end(pid);
        journal.end_command(pid, older);
        journal.note_call(pid, older, callee, false);
        assert_eq!((journal.details(pid), journal.type_name(pid)), (None, None));
        assert!(journal.0.iter().all(|shard| lock(shard).is_empty()));
    }

    /// A failure: an entry is left, which is memory that grows with each process.
    #[test]
    fn the_journal_forgets_what_has_ended() {
        let journal = Journal::default();
        let scheduler = Scheduler::<Any>::builder().workers(1);
        let scheduler = scheduler.observer(journal.clone());
        let scheduler = scheduler.hooks(NamelessOnly).build().unwrap();
        let noted = || {
            journal
                .0
                .iter()
                .map(|shard| lock(shard).len())
                .sum::<usize>()
        };
        let idle = || from_fn(|_, _, _| Ok(()));
        let process = scheduler.submit(idle(), "run", ()).unwrap();
        let future = scheduler.spawn(std::future::pending::<()>()).unwrap();
        assert_eq!(noted(), 2);
        let refused = scheduler.submission(idle(), "run", ()).name("named");
        assert!(matches!(refused.submit(), Err(SubmitError::Hook(_))));
        assert_eq!(noted(), 2);
        scheduler.terminate(process.pid()).unwrap();
        process.join().unwrap_err();
        future.abort();
        future.join().unwrap_err();
        assert_eq!(noted(), 0);
    }
}
