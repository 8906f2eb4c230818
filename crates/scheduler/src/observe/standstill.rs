//! Standstills: nothing can run any more, and the processes wait for something outside or for ever.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};
use std::{fmt, ptr};

use filch_process_state::LetGo;
use filch_processors::NeverQuiescent;
use filch_sync::lock;
use filch_timers::pending_for;

use crate::observe::info::{Activity, PendingFuture, PendingTimers, ProcessInfo, ProcessList};
use crate::table::pid::Pid;
use crate::{CalledFromInside, Handle, Protocol};

/// A standstill: nothing can run any more. Its `Display` is a report for people.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standstill {
    /// The live processes.
    pub processes: Vec<ProcessInfo>,
    /// The processes that are pending futures, and all that can wake them.
    pub futures: Vec<PendingFuture>,
    /// The pending timers, if there are any: see [`Verdict::AwaitsTimers`].
    pub timers: Option<PendingTimers>,
}

/// The verdict on a standstill: can anything happen again?
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// No process lives.
    AllEnded,
    /// Pending timers will send messages to processes here, complete their commands or wake their
    /// futures. More than these may come from outside.
    AwaitsTimers(PendingTimers),
    /// A thread outside holds the completion of a command, or is submitting a process, or has the
    /// waker of a future.
    AwaitsOutside,
    /// No command is under way, and no future has a waker outside: the processes wait for messages,
    /// or for each other. If no thread outside sends a message either, they wait for ever.
    Deadlock,
}

impl Standstill {
    /// Returns the verdict: can anything happen again?
    ///
    /// It is never [`Deadlock`](Verdict::Deadlock) while something that the processes wait for is
    /// known to be able to come. All that is held outside counts so, even if its holder waits in
    /// turn: a completion that a process keeps, to complete it later; the waker of a future in a
    /// channel or a lock whose other end is with a process here. A closure that sends a message,
    /// and is not known to be a timer's, counts as a thread outside.
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

    /// Checks if something known to be outside can wake one of them. (If one awaits another that
    /// can go on, the other counts.)
    fn is_any_awake(&self) -> bool {
        let live: HashSet<Pid> = self.processes.iter().map(|process| process.pid).collect();
        let process_is = |process: &ProcessInfo| {
            process.outstanding > 0 || process.activity == Activity::Starting
        };
        // One that is awaited, and has ended since, has woken it, or is about to.
        let future_is = |future: &PendingFuture| {
            future.wakers > 0 || !future.awaits.iter().all(|pid| live.contains(pid))
        };
        self.processes.iter().any(process_is) || self.futures.iter().any(future_is)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllEnded => f.write_str("all processes have ended"),
            Self::AwaitsTimers(PendingTimers { count, next }) => {
                write!(f, "pending timers: {count}, the first due in {next:?}")
            }
            Self::AwaitsOutside => f.write_str("nothing runs before one of these comes"),
            Self::Deadlock => {
                f.write_str("unless a thread outside sends messages, they wait for ever")
            }
        }
    }
}

impl fmt::Display for Standstill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (waiting, verdict) = (self.processes.len(), self.verdict());
        if waiting == 0 {
            return verdict.fmt(f);
        }
        let outstanding = |process: &ProcessInfo| u64::from(process.outstanding);
        let commands: u64 = self.processes.iter().map(outstanding).sum();
        let woken = self.futures.iter().filter(|one| one.wakers > 0).count();
        write!(
            f,
            "processes that wait: {waiting}; commands under way outside: {commands}; futures with \
             a waker outside: {woken}; {verdict}:\n{}",
            ProcessList(&self.processes)
        )?;
        for future in self.futures.iter().filter(|one| !one.awaits.is_empty()) {
            let awaits: Vec<_> = future.awaits.iter().map(Pid::to_string).collect();
            write!(f, "\n{} awaits {}", future.pid, awaits.join(", "))?;
        }
        Ok(())
    }
}

/// The reason why there was no standstill.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StandstillError {
    /// Called on a worker of the same scheduler, which is busy for as long as it waits.
    CalledFromInside,
    /// The workers have left: tasks that became runnable since will never run.
    ShutDown,
    /// Something ran until the time limit.
    StillRunning {
        /// The processes that could run then: none, if each stood still for a moment.
        processes: Vec<ProcessInfo>,
    },
}

impl fmt::Display for StandstillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CalledFromInside => CalledFromInside.fmt(f),
            Self::ShutDown => NeverQuiescent.fmt(f),
            Self::StillRunning { processes } => {
                f.write_str("there was no standstill in time")?;
                let mut before = "; it still goes on with";
                for process in processes {
                    write!(f, "{before} {} ({})", process.pid, process.activity)?;
                    before = ",";
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for StandstillError {}

impl<P: Protocol> Handle<P> {
    /// Blocks until no process can run any more, unless a thread outside completes a command,
    /// sends, wakes, or submits; then reports each process. Blocks for ever if a process never
    /// stops running: where that may be, use
    /// [`wait_for_standstill_timeout`](Self::wait_for_standstill_timeout).
    ///
    /// The standstill is exact: at one moment during the call all workers were idle and nothing was
    /// runnable, and until the last process had been looked at no step was taken.
    /// [`Standstill::verdict`] says how far it knows futures and timers.
    ///
    /// # Errors
    /// [`StandstillError::CalledFromInside`], [`StandstillError::ShutDown`].
    pub fn wait_for_standstill(&self) -> Result<Standstill, StandstillError> {
        self.wait_for_standstill_timeout(Duration::MAX)
    }

    /// Waits as [`wait_for_standstill`](Self::wait_for_standstill), for at most `limit`.
    ///
    /// # Errors
    /// [`StandstillError`].
    pub fn wait_for_standstill_timeout(
        &self,
        limit: Duration,
    ) -> Result<Standstill, StandstillError> {
        // A deadline that the clock cannot express never comes.
        let deadline = Instant::now().checked_add(limit);
        if self.is_worker() {
            return Err(StandstillError::CalledFromInside);
        }
        let processors = &self.shared().processors;
        loop {
            // Before all is quiet: what begins after this is seen below, however long it takes.
            let before = self.moves();
            let quiet = processors.wait_quiescent(deadline);
            if quiet.map_err(|NeverQuiescent| StandstillError::ShutDown)?
                && let Some(standstill) = self.look_at_all(before)
            {
                return Ok(standstill);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                let mut processes = self.list();
                processes.retain(ProcessInfo::can_run);
                return Err(StandstillError::StillRunning { processes });
            }
            // A thread outside may have made one Ready and not put it into a queue yet, where it
            // could be seen: let it.
            filch_sync::thread::yield_now();
        }
    }

    /// Returns the state of all processes; `None` if one has been woken since, or has taken a step
    /// while others were looked at.
    fn look_at_all(&self, before: u64) -> Option<Standstill> {
        let looking = &self.shared().looking;
        let _one_at_a_time = lock(looking);
        // First: what a timer does later than this is seen below.
        let calls = pending_for(self.number(), &|_| false);
        let processes = self.list();
        if processes.iter().any(ProcessInfo::can_run) {
            return None;
        }
        let pending = processes
            .iter()
            .filter(|process| process.activity == Activity::Pending);
        let futures: Option<HashMap<_, _>> = pending
            .map(|process| self.look_at_future(process.pid))
            .collect();
        let mut futures = futures?;
        let sleeps = pending_for(usize::MAX, &|waker| {
            futures.contains_key(&waker.data().addr())
        });
        // After the clones were counted: a future leaves its waker in its own step, and takes none
        // now, so each that is found there was counted.
        for process in &processes {
            if !futures.is_empty()
                && let Some(process) = self.pin(process.pid)
                && let Some(slot) = process.slot().life.awaited_by()
                && let Some(future) = futures.get_mut(&slot)
            {
                future.awaits.push(process.pid());
                future.wakers = future.wakers.saturating_sub(1);
            }
        }
        let mut futures: Vec<_> = futures.into_values().collect();
        futures.sort_unstable_by_key(|future| future.pid);
        let timers = PendingTimers {
            count: calls.0 + sleeps.0,
            next: calls.1.min(sleeps.1),
        };
        let standstill = Standstill {
            processes,
            futures,
            timers: (timers.count > 0).then_some(timers),
        };
        (self.moves() == before).then_some(standstill)
    }

    /// Counts the steps taken and processes ended: constant while all is quiet.
    fn moves(&self) -> u64 {
        let workers = self.shared().counters.iter();
        let moves = workers.map(|worker| worker.steps.get() + worker.ended.get());
        moves.sum()
    }

    /// Returns the future `pid`, if it is pending, and the address by which its wakers know it, its
    /// slot's; `None` if it has been woken, or another thread is looking at it.
    fn look_at_future(&self, pid: Pid) -> Option<(usize, PendingFuture)> {
        let process = self.pin(pid)?;
        let slot = process.slot();
        slot.state.seize().ok()?;
        // Seized: as a worker's `start` would, this has made the process Running, so this thread
        // has it until it lets go.
        let future = PendingFuture {
            pid,
            awaits: Vec::new(),
            wakers: slot.waker_clones(),
        };
        // A wake-up by a clone that is not counted any more is seen here: `waker_clones`.
        match slot.state.idle() {
            Ok(LetGo::Waits) => Some((ptr::from_ref(slot).addr(), future)),
            Ok(LetGo::Enqueue) => {
                self.enqueue(slot);
                None
            }
            Err(error) => unreachable!("only the thread that has it lets go of it: {error}"),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
