//! The journal: what is known of each process beside its slot.

use std::collections::HashMap;

use filch_scheduler::{Builder, Observer, Pid, ProcessDetails, Protocol};
use filch_sync::{CachePadded, Mutex, MutexGuard, lock};

use crate::journal::entry::{Entry, NotedCall};

/// Journals.
pub trait Journals: Sized {
    /// Whether the scheduler notes of each process its type, its age, its parent and the commands and
    /// calls that it has under way, with their ages. It takes a lock for a moment for each process that
    /// begins or ends, and two for each command; none for a message. Default: `false`.
    fn journal(self, keep: bool) -> Self;
}

impl<P: Protocol> Journals for Builder<P> {
    fn journal(self, keep: bool) -> Self {
        if keep {
            self.observer(Journal::default())
        } else {
            self
        }
    }
}

/// What is known of each process beside its slot: written when it is submitted, is replaced or
/// ends, and when a command of it begins or is completed; read for reports. Not for messages, nor
/// for steps.
///
/// A scheduler has one only if it was built [so](crate::Builder::journal): a process costs no
/// memory for it elsewhere, and what would write here looks at an `Option`.
///
/// Each writer holds one of several locks for a moment.
#[derive(Default)]
struct Journal {
    /// By slot.
    shards: [CachePadded<Mutex<HashMap<Pid, Entry>>>; SHARDS],
}

/// So many that two workers rarely meet.
const SHARDS: usize = 16;

impl Journal {
    fn shard(&self, pid: Pid) -> MutexGuard<'_, HashMap<Pid, Entry>> {
        lock(&self.shards[pid.slot() as usize % SHARDS])
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
