//! Whether anything will ever happen again, and what the processes wait for if not.

use std::fmt;

use crate::info::{Activity, PendingFuture, PendingTimers, ProcessInfo};
use crate::pid::Pid;
use crate::process_list::ProcessList;
use crate::wait_graph::WaitGraph;

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
        } else if self.graph().is_any_awake() {
            Verdict::AwaitsOutside
        } else {
            Verdict::Deadlock
        }
    }

    /// The futures that nothing will wake, whatever the [verdict](Self::verdict) says of the
    /// others: nothing elsewhere has a waker of theirs, and the processes that they await, if they
    /// await any, are futures in the same case.
    pub fn stuck(&self) -> Vec<Pid> {
        let graph = self.graph();
        let processes = self.processes.iter().enumerate();
        let stuck = processes.filter(|&(at, _)| graph.is_stuck(at));
        stuck.map(|(_, process)| process.pid).collect()
    }

    /// Futures that wait only for each other, in rings: each awaits the next one, and the last one
    /// the first. All are [stuck](Self::stuck). Each stuck future is in one of these rings, or
    /// awaits one that leads to it, or waits in the end for a future that nothing wakes.
    pub fn rings(&self) -> Vec<Vec<Pid>> {
        self.pids(self.graph().rings())
    }

    /// Rings of processes of which each waits for the next one, and the last one for the first, if
    /// one of them waits for the answer to a call: for answers alone, or, as a future, for the end
    /// of others. Only of processes that a [journal](ProcessInfo::details) is kept of.
    ///
    /// If no process of a ring has passed on the caller that it is to answer, to a thread or to a
    /// process that is in no ring, they wait for ever. That cannot be seen: so neither the
    /// [verdict](Self::verdict) nor [`stuck`](Self::stuck) says so.
    pub fn call_rings(&self) -> Vec<Vec<Pid>> {
        let graph = WaitGraph::with_calls(&self.processes, &self.futures);
        let mut rings = graph.rings();
        let calls = |process: &ProcessInfo| process.activity != Activity::Pending;
        rings.retain(|ring| ring.iter().any(|&at| calls(&self.processes[at])));
        self.pids(rings)
    }

    fn pids(&self, rings: Vec<Vec<usize>>) -> Vec<Vec<Pid>> {
        let pid = |at: usize| self.processes[at].pid;
        let pids = |ring: Vec<usize>| ring.into_iter().map(pid).collect();
        rings.into_iter().map(pids).collect()
    }

    fn graph(&self) -> WaitGraph {
        WaitGraph::of_futures(&self.processes, &self.futures)
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
        for ring in self.rings() {
            let way = list(&ring, " awaits ");
            write!(f, "\nin a ring, for ever: {way} awaits {}", ring[0])?;
        }
        for ring in self.call_rings() {
            f.write_str("\nin a ring, unless one has passed its caller on: ")?;
            for &pid in &ring {
                let is_future = self.futures.iter().any(|future| future.pid == pid);
                write!(f, "{pid} {} ", if is_future { "awaits" } else { "calls" })?;
            }
            write!(f, "{}", ring[0])?;
        }
        Ok(())
    }
}

fn list(pids: &[Pid], between: &str) -> String {
    let names: Vec<_> = pids.iter().map(Pid::to_string).collect();
    names.join(between)
}
