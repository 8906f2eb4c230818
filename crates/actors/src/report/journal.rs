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
mod tests;
