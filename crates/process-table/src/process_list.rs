//! What processes are doing, as a table for people.

use std::fmt;

use crate::info::ProcessInfo;

/// A table for people: a line for each of these processes, and one with the names of the columns.
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
        Ok(())
    }
}
