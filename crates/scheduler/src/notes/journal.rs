//! The journal: what is known of each process beside its slot.

use std::collections::HashMap;

use filch_process_table::{Pid, ProcessDetails};
use filch_sync::{CachePadded, Mutex, MutexGuard, lock};

use crate::notes::entry::{Entry, NotedCall};

/// What is known of each process beside its slot: written when it is submitted, is replaced or
/// ends, and when a command of it begins or is completed; read for reports. Not for messages, nor
/// for steps.
///
/// A scheduler has one only if it was built [so](crate::Builder::journal): a process costs no
/// memory for it elsewhere, and what would write here looks at an `Option`.
///
/// Each writer holds one of several locks for a moment.
#[derive(Default)]
pub(crate) struct Journal {
    /// By slot.
    shards: [CachePadded<Mutex<HashMap<Pid, Entry>>>; SHARDS],
}

/// So many that two workers rarely meet.
const SHARDS: usize = 16;

impl Journal {
    fn shard(&self, pid: Pid) -> MutexGuard<'_, HashMap<Pid, Entry>> {
        lock(&self.shards[pid.slot() as usize % SHARDS])
    }

    /// A process begins, which was submitted by `parent`.
    #[cold]
    pub(crate) fn begin(&self, pid: Pid, type_name: &'static str, parent: Option<Pid>) {
        self.shard(pid).insert(pid, Entry::new(type_name, parent));
    }

    /// It goes on as another type.
    pub(crate) fn replace(&self, pid: Pid, type_name: &'static str) {
        if let Some(entry) = self.shard(pid).get_mut(&pid) {
            entry.type_name = type_name;
        }
    }

    /// It has ended.
    #[cold]
    pub(crate) fn end(&self, pid: Pid) {
        self.shard(pid).remove(&pid);
    }

    /// A command of it begins. Its number, by which the others know it.
    #[cold]
    pub(crate) fn begin_command(&self, pid: Pid, tag: u64) -> u64 {
        let mut shard = self.shard(pid);
        let entry = shard.get_mut(&pid);
        entry.map_or(0, |entry| entry.begin_command(tag))
    }

    /// That command calls the process `to`.
    #[cold]
    pub(crate) fn note_call(&self, pid: Pid, number: u64, to: Pid, is_limited: bool) {
        if let Some(entry) = self.shard(pid).get_mut(&pid) {
            entry.note_call(number, NotedCall { to, is_limited });
        }
    }

    /// That command is completed. Perhaps its process has ended before.
    #[cold]
    pub(crate) fn end_command(&self, pid: Pid, number: u64) {
        if let Some(entry) = self.shard(pid).get_mut(&pid) {
            entry.end_command(number);
        }
    }

    /// What is known of the process, if it has not ended.
    pub(crate) fn details(&self, pid: Pid) -> Option<ProcessDetails> {
        self.shard(pid).get(&pid).map(Entry::details)
    }

    /// How many processes it knows.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    /// The name of its type.
    pub(crate) fn type_name(&self, pid: Pid) -> Option<&'static str> {
        self.shard(pid).get(&pid).map(|entry| entry.type_name)
    }
}

#[cfg(test)]
mod tests {
    use filch_process_table::{Node, Placement, Table};

    use super::Journal;

    /// Two commands with one tag, of which the younger is completed first; and what comes for a
    /// process that has ended.
    #[test]
    fn a_command_is_known_by_its_number_and_not_by_its_tag() {
        let table = Table::<(), (), ()>::new(Node::default());
        let new = || table.pid_of(table.occupy(&Placement::default()).unwrap());
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
        assert_eq!(journal.len(), 0);
    }
}
