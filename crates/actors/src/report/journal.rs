//! The journal: notes of each process beside its slot, an entry for each.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::time::Instant;

use filch_scheduler::{ExitReason, Observer, PendingCommand, Pid, ProcessDetails};
use filch_sync::{Arc, CachePadded, Mutex, MutexGuard, lock};

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

/// The notes of one process.
pub(crate) struct Entry {
    pub(crate) type_name: &'static str,
    pub(crate) method: Box<str>,
    began: Instant,
    parent: Option<Pid>,
    /// By number: the oldest first.
    commands: BTreeMap<u64, Noted>,
    /// The number of the next command. Not its tag, as several commands may share a tag.
    next: u64,
}

/// A command that is under way.
struct Noted {
    tag: u64,
    began: Instant,
    call: Option<NotedCall>,
}

/// The process that a command calls.
pub(crate) struct NotedCall {
    pub(crate) to: Pid,
    pub(crate) is_limited: bool,
}

impl Entry {
    pub(crate) fn new(type_name: &'static str, method: &str, parent: Option<Pid>) -> Self {
        Self {
            type_name,
            method: method.into(),
            began: Instant::now(),
            parent,
            commands: BTreeMap::new(),
            next: 0,
        }
    }

    /// Notes that a command begins; returns its number.
    pub(crate) fn begin_command(&mut self, tag: u64) -> u64 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        let noted = Noted {
            tag,
            began: Instant::now(),
            call: None,
        };
        self.commands.insert(number, noted);
        number
    }

    /// Notes that the command is a call.
    pub(crate) fn note_call(&mut self, number: u64, call: NotedCall) {
        if let Some(noted) = self.commands.get_mut(&number) {
            noted.call = Some(call);
        }
    }

    pub(crate) fn end_command(&mut self, number: u64) {
        self.commands.remove(&number);
    }

    /// Returns the notes, with ages as of now.
    pub(crate) fn details(&self) -> ProcessDetails {
        let now = Instant::now();
        let commands = self.commands.values().map(|noted| PendingCommand {
            tag: noted.tag,
            age: now.saturating_duration_since(noted.began),
            calls: noted.call.as_ref().map(|call| call.to),
            is_limited: noted.call.as_ref().is_some_and(|call| call.is_limited),
        });
        ProcessDetails {
            type_name: self.type_name,
            method: self.method.clone(),
            age: now.saturating_duration_since(self.began),
            parent: self.parent,
            commands: commands.collect(),
        }
    }
}
