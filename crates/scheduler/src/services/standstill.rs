//! Whether anything will ever happen again, and what the processes wait for if not.

use std::fmt;

use filch_processors::NeverQuiescent;

use crate::api::handle::{CalledFromInside, Handle};
use crate::ops::info::{Activity, ProcessInfo};
use crate::protocol::Protocol;

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
    /// A thread outside holds the [`Completion`](crate::Completion) of a command, or is in the
    /// middle of submitting a process, or may hold the waker of a future.
    AwaitsOutside,
    /// No command is under way, and no future is pending: the processes wait for messages, which
    /// none of them can send. If no thread outside sends one either, this is a deadlock.
    Deadlock,
}

impl Standstill {
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

/// Why there was no standstill to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StandstillError {
    /// Called on a worker of the same scheduler, which would run for as long as it waited.
    CalledFromInside,
    /// The workers have left, and what became runnable since will never run.
    ShutDown,
}

impl fmt::Display for StandstillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CalledFromInside => CalledFromInside.fmt(f),
            Self::ShutDown => NeverQuiescent.fmt(f),
        }
    }
}

impl std::error::Error for StandstillError {}

impl<P: Protocol> Handle<P> {
    /// Blocks until no process can run any more, unless a thread outside completes a command,
    /// sends, or submits; then says what each one waits for. Blocking, while anything is runnable.
    ///
    /// The standstill is exact: at one moment during the call all workers were idle and nothing was
    /// runnable, and until the last process had been looked at no step was taken; and none of them
    /// is [`Ready`](Activity::Ready).
    ///
    /// # Errors
    /// [`StandstillError`].
    pub fn wait_for_standstill(&self) -> Result<Standstill, StandstillError> {
        if self.is_worker() {
            return Err(StandstillError::CalledFromInside);
        }
        let processors = &self.shared.processors;
        loop {
            // Before all is quiet: what begins after this is seen below, however long it takes.
            let before = self.moves();
            let Ok(()) = processors.wait_quiescent() else {
                return Err(StandstillError::ShutDown);
            };
            let processes = self.list();
            // One may have been woken since, and have taken a step while others were looked at.
            if self.moves() == before && !processes.iter().any(ProcessInfo::can_run) {
                return Ok(Standstill { processes });
            }
            // A thread outside may have made one Ready and not put it into a queue yet, where it
            // could be seen: let it.
            filch_sync::thread::yield_now();
        }
    }

    /// Steps taken and processes ended: while all is quiet, it stays as it is.
    fn moves(&self) -> u64 {
        let counters = self.shared.counters.iter();
        counters
            .map(|counters| counters.snapshot())
            .map(|worker| worker.steps + worker.ended)
            .sum()
    }
}
