//! The journal: notes of each process beside its slot.

use std::collections::HashMap;
use std::fmt;

use filch_scheduler::{ExitReason, Observer, Pid, ProcessDetails};
use filch_sync::{Arc, CachePadded, Mutex, MutexGuard, lock};

use crate::report::entry::{Entry, NotedCall};

/// Notes the type, entry point, age and parent of each process, and its open commands and calls,
/// with their ages; reports show them as its [details](filch_scheduler::ProcessInfo::details).
///
/// A scheduler has a journal only if it was [given](filch_scheduler::Builder::observer) one:
/// `builder.observer(Journal::default())`. It takes a lock for a moment for each process that
/// begins or ends, and two for each command; none for a message. There are several locks, by slot.
///
/// Clones share the notes.
#[derive(Clone, Default)]
pub struct Journal(Arc<Shards>);

/// The notes, sharded by slot.
type Shards = [CachePadded<Mutex<HashMap<Pid, Entry>>>; SHARDS];

/// Enough shards that two workers rarely meet.
const SHARDS: usize = 16;

impl Journal {
    fn shard(&self, pid: Pid) -> MutexGuard<'_, HashMap<Pid, Entry>> {
        lock(&self.0[pid.slot() as usize % SHARDS])
    }
}

impl Observer for Journal {
    /// Notes that a process begins, submitted by `parent`.
    fn begin(&self, pid: Pid, type_name: &'static str, method: &str, parent: Option<Pid>) {
        let entry = Entry::new(type_name, method, parent);
        self.shard(pid).insert(pid, entry);
    }

    /// Notes that the process goes on as another type.
    fn replace(&self, pid: Pid, type_name: &'static str, method: &str) {
        if let Some(entry) = self.shard(pid).get_mut(&pid) {
            (entry.type_name, entry.method) = (type_name, method.into());
        }
    }

    /// Drops the notes of a process that has ended.
    fn end(&self, pid: Pid, _: &ExitReason) {
        self.shard(pid).remove(&pid);
    }

    /// Notes that a command begins. Returns its number, by which the other methods know it.
    fn begin_command(&self, pid: Pid, tag: u64) -> u64 {
        let mut shard = self.shard(pid);
        let entry = shard.get_mut(&pid);
        entry.map_or(0, |entry| entry.begin_command(tag))
    }

    /// Notes that the command calls the process `to`.
    fn note_call(&self, pid: Pid, number: u64, to: Pid, is_limited: bool) {
        if let Some(entry) = self.shard(pid).get_mut(&pid) {
            entry.note_call(number, NotedCall { to, is_limited });
        }
    }

    /// Forgets a completed command, whose process may have ended before.
    fn end_command(&self, pid: Pid, number: u64) {
        if let Some(entry) = self.shard(pid).get_mut(&pid) {
            entry.end_command(number);
        }
    }

    /// Returns the notes of the process, if it has not ended.
    fn details(&self, pid: Pid) -> Option<ProcessDetails> {
        self.shard(pid).get(&pid).map(Entry::details)
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests;
