//! The journal's notes of one process.

use std::collections::BTreeMap;
use std::time::Instant;

use filch_scheduler::{PendingCommand, Pid, ProcessDetails};

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
