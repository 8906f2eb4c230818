//! Whether anything will ever happen again, and what the processes wait for if not.

use std::fmt;

use crate::table::info::{Activity, PendingFuture, PendingTimers, ProcessInfo};
use crate::table::pid::Pid;
use crate::table::process_list::ProcessList;

/// What the processes wait for when nothing can run any more. Its `Display` is a report for people.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Standstill {
    /// The processes that live.
    pub processes: Vec<ProcessInfo>,
    /// What those of them wait for that are pending futures.
    pub futures: Vec<PendingFuture>,
    /// The timers that are pending, if any are: see [`Verdict::AwaitsTimers`].
    pub timers: Option<PendingTimers>,
}

/// Whether anything will ever happen again.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// No process lives.
    AllEnded,
    /// Timers are pending that will send messages to processes here, complete their commands or
    /// wake their futures. More than these may come from outside.
    AwaitsTimers(PendingTimers),
    /// A thread outside holds the completion of a command, or is in the middle of submitting a
    /// process, or has the waker of a future.
    AwaitsOutside,
    /// No command is under way, and no future has a waker outside: the processes wait for messages,
    /// or for each other. If no thread outside sends a message either, they wait for ever.
    Deadlock,
}

impl Standstill {
    /// Of the processes that live. `timers` of which none is pending are none.
    pub fn new(
        processes: Vec<ProcessInfo>,
        futures: Vec<PendingFuture>,
        timers: PendingTimers,
    ) -> Self {
        Self {
            processes,
            futures,
            timers: (timers.count > 0).then_some(timers),
        }
    }

    /// Whether anything will ever happen again.
    ///
    /// It is never [`Deadlock`](Verdict::Deadlock) while something that the processes wait for is
    /// known to be able to come. What is held outside counts as able to come, be it held by
    /// something that waits in its turn: a completion that a process keeps, to complete it later;
    /// the waker of a future in a channel or a lock whose other end is with a process here. A
    /// closure that sends a message, and that is not known to be a timer's, is a thread outside.
    pub fn verdict(&self) -> Verdict {
        if self.processes.is_empty() {
            Verdict::AllEnded
        } else if let Some(timers) = self.timers {
            Verdict::AwaitsTimers(timers)
        } else if self.is_any_awake() {
            Verdict::AwaitsOutside
        } else {
            Verdict::Deadlock
        }
    }

    /// Whether something that is known to be outside can make one of them go on. (If one awaits another
    /// that goes on, that other one is such.)
    fn is_any_awake(&self) -> bool {
        let lives = |pid: &Pid| self.processes.iter().any(|process| process.pid == *pid);
        let is_looked_at = |pid| self.futures.iter().any(|future| future.pid == pid);
        let process_is = |process: &ProcessInfo| {
            process.outstanding > 0
                || process.activity == Activity::Starting
                // Of a future that was not looked at, nothing is known.
                || process.activity == Activity::Pending && !is_looked_at(process.pid)
        };
        // One that is awaited, and has ended since, has woken it, or is about to.
        let future_is =
            |future: &PendingFuture| future.wakers > 0 || !future.awaits.iter().all(lives);
        self.processes.iter().any(process_is) || self.futures.iter().any(future_is)
    }

    /// What the report begins with.
    fn headline(&self) -> String {
        let (is_are, waiting) = match self.processes.len() {
            1 => ("is", "1 process waits".to_owned()),
            count => ("are", format!("{count} processes wait")),
        };
        let outstanding = |process: &ProcessInfo| u64::from(process.outstanding);
        let commands: u64 = self.processes.iter().map(outstanding).sum();
        let woken = self.futures.iter().filter(|one| one.wakers > 0).count();
        let futures = match woken {
            0 => String::new(),
            1 => ", 1 future may be woken from there".to_owned(),
            count => format!(", {count} futures may be woken from there"),
        };
        let outside = format!("{commands} commands are under way outside{futures}");
        match self.verdict() {
            Verdict::AllEnded => "all processes have ended".to_owned(),
            Verdict::AwaitsTimers(PendingTimers { count, next }) => {
                let pending = match count {
                    1 => "1 timer is pending, due".to_owned(),
                    _ => format!("{count} timers are pending, the first due"),
                };
                format!("{waiting}; {pending} in {next:?}; {outside}:")
            }
            Verdict::AwaitsOutside => {
                format!("{waiting}; {outside}, and nothing runs before that comes:")
            }
            Verdict::Deadlock if self.futures.is_empty() => format!(
                "{waiting} for messages; no command is under way, so unless a thread outside sends \
                 some, they wait for ever:"
            ),
            Verdict::Deadlock => format!(
                "{waiting}; no command is under way, and no waker {is_are} held outside; so unless \
                 a thread outside sends messages, they wait for ever:"
            ),
        }
    }
}

impl fmt::Display for Standstill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline())?;
        if self.processes.is_empty() {
            return Ok(());
        }
        write!(f, "\n{}", ProcessList(&self.processes))?;
        for future in self.futures.iter().filter(|one| !one.awaits.is_empty()) {
            write!(f, "\n{} awaits {}", future.pid, list(&future.awaits, ", "))?;
        }
        Ok(())
    }
}

fn list(pids: &[Pid], between: &str) -> String {
    let names: Vec<_> = pids.iter().map(Pid::to_string).collect();
    names.join(between)
}
