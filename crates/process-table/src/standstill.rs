//! Whether anything will ever happen again, and what the processes wait for if not.

use std::fmt;

use crate::info::{Activity, ProcessInfo};

/// What the processes wait for when nothing can run any more. Its `Display` is a report for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Standstill {
    /// The processes that live.
    pub processes: Vec<ProcessInfo>,
}

/// Whether anything will ever happen again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// No process lives.
    AllEnded,
    /// A thread outside holds the completion of a command, or is in the middle of submitting a
    /// process, or may hold the waker of a future.
    AwaitsOutside,
    /// No command is under way, and no future is pending: the processes wait for messages, which
    /// none of them can send. If no thread outside sends one either, this is a deadlock.
    Deadlock,
}

impl Standstill {
    /// Of the processes that live.
    pub fn new(processes: Vec<ProcessInfo>) -> Self {
        Self { processes }
    }

    /// Whether anything will ever happen again.
    ///
    /// A completion that a process keeps, to complete it later, counts as held outside; so does the
    /// waker of every pending future, though it may be one that waits for another process here.
    pub fn verdict(&self) -> Verdict {
        let comes_from_outside = |process: &ProcessInfo| {
            process.outstanding > 0
                || matches!(process.activity, Activity::Starting | Activity::Pending)
        };
        if self.processes.is_empty() {
            Verdict::AllEnded
        } else if self.processes.iter().any(comes_from_outside) {
            Verdict::AwaitsOutside
        } else {
            Verdict::Deadlock
        }
    }
}

impl fmt::Display for Standstill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.processes.len();
        let waiting = match count {
            1 => "1 process waits".to_owned(),
            _ => format!("{count} processes wait"),
        };
        match self.verdict() {
            Verdict::AllEnded => return f.write_str("all processes have ended"),
            Verdict::AwaitsOutside => {
                let outstanding = |process: &ProcessInfo| u64::from(process.outstanding);
                let commands: u64 = self.processes.iter().map(outstanding).sum();
                let pending = |process: &&ProcessInfo| process.activity == Activity::Pending;
                let futures = match self.processes.iter().filter(pending).count() {
                    0 => String::new(),
                    1 => ", 1 future may be woken from there".to_owned(),
                    count => format!(", {count} futures may be woken from there"),
                };
                writeln!(
                    f,
                    "{waiting}; {commands} commands are under way outside{futures}, and nothing \
                     runs before that comes:"
                )?;
            }
            Verdict::Deadlock => writeln!(
                f,
                "{waiting} for messages; no command is under way, so unless a thread outside sends \
                 some, they wait for ever:"
            )?,
        }
        write!(
            f,
            "{:<16}{:<10}{:>12}{:>12}{:>10}{:>10}",
            "process", "is", "commands", "undelivered", "steps", "messages"
        )?;
        for process in &self.processes {
            let undelivered = process
                .undelivered
                .map_or_else(|| "-".to_owned(), |count| count.to_string());
            write!(
                f,
                "\n{:<16}{:<10}{:>12}{:>12}{:>10}{:>10}",
                process.pid.to_string(),
                process.activity,
                process.outstanding,
                undelivered,
                process.steps,
                process.messages,
            )?;
        }
        Ok(())
    }
}
