//! What processes are doing, as a table for people.

use std::fmt;
use std::time::Duration;

use crate::observe::info::ProcessInfo;
use crate::observe::observer::{PendingCommand, ProcessDetails};

/// A table for people: a line with the names of the columns, and one for each of these processes;
/// behind that one, if a journal is kept, a line for each command that is under way.
#[derive(Debug, Clone, Copy)]
pub struct ProcessList<'a>(pub &'a [ProcessInfo]);

impl fmt::Display for ProcessList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<16}{:<10}{:>10}{:>10}{:>10}{:>10}",
            "process", "is", "commands", "mailbox", "steps", "messages"
        )?;
        self.0.iter().try_for_each(|process| process.write(f))
    }
}

impl ProcessInfo {
    /// Its line, behind a line break.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mailbox = match self.undelivered {
            Some(count) => count.to_string(),
            None => self.queued.to_string(),
        };
        write!(
            f,
            "\n{:<16}{:<10}{:>10}{:>10}{:>10}{:>10}",
            self.pid.to_string(),
            self.activity,
            self.outstanding,
            mailbox,
            self.steps,
            self.messages,
        )?;
        if !self.names.is_empty() {
            write!(f, "  {}", self.names.join(", "))?;
        }
        self.details.iter().try_for_each(|details| details.write(f))
    }
}

impl ProcessDetails {
    /// The rest of the line, and one for each command, up to [`MOST`].
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {}, {} old", self.type_name, Seconds(self.age))?;
        if let Some(parent) = self.parent {
            write!(f, ", of {parent}")?;
        }
        for command in self.commands.iter().take(MOST) {
            write!(f, "\n{command}")?;
        }
        match self.commands.len().checked_sub(MOST) {
            None | Some(0) => Ok(()),
            Some(more) => write!(f, "\n    and {more} commands more"),
        }
    }
}

/// Commands of a process that are shown.
const MOST: usize = 16;

impl fmt::Display for PendingCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.calls {
            Some(_) => "call",
            None => "command",
        };
        write!(f, "    {what} {}", self.tag)?;
        if let Some(callee) = self.calls {
            write!(f, " of {callee}")?;
        }
        if self.is_limited {
            f.write_str(", which has a time limit")?;
        }
        write!(f, ", for {}", Seconds(self.age))
    }
}

/// A time, as people read it at night.
struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} s", self.0.as_secs_f64())
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
