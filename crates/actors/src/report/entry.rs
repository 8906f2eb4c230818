//! The journal's notes of one process.

use std::collections::BTreeMap;
use std::time::Instant;

use filch_scheduler::{PendingCommand, Pid, ProcessDetails};

/// The notes of one process.
pub(crate) struct Entry {
    pub(crate) type_name: &'static str,
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
    pub(crate) fn new(type_name: &'static str, parent: Option<Pid>) -> Self {
        Self {
            type_name,
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
        let age = now.saturating_duration_since(self.began);
        let mut details = ProcessDetails::new(self.type_name, age, self.parent);
        let commands = self.commands.values();
        details.commands.extend(commands.map(|noted| {
            let age = now.saturating_duration_since(noted.began);
            let mut command = PendingCommand::new(noted.tag, age);
            if let Some(call) = &noted.call {
                command.calls = Some(call.to);
                command.is_limited = call.is_limited;
            }
            command
        }));
        details
    }
}
