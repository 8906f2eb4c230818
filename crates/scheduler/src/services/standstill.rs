//! Waiting until nothing can run any more.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::time::{Duration, Instant};

use crate::table::{PendingFuture, PendingTimers};
use filch_processors::NeverQuiescent;
use filch_sync::lock;
use filch_timers::pending_for;

use crate::api::joins::WakerId;
use crate::ops::look::Wakers;
use crate::{Activity, CalledFromInside, Handle, Pid, ProcessInfo, Protocol, Standstill};

/// Why there was no standstill to wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StandstillError {
    /// Called on a worker of the same scheduler, which would run for as long as it waited.
    CalledFromInside,
    /// The workers have left, and what became runnable since will never run.
    ShutDown,
    /// Something ran until the time was over.
    StillRunning {
        /// The processes that could run when it was: none, if each stood still for a moment.
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
    /// sends, wakes, or submits; then says what each one waits for. Blocking, while anything is
    /// runnable: for ever, if a process never stops to run. Where that may be, there is a limit:
    /// [`wait_for_standstill_timeout`](Self::wait_for_standstill_timeout).
    ///
    /// The standstill is exact: at one moment during the call all workers were idle and nothing was
    /// runnable, and until the last process had been looked at no step was taken. What it knows of
    /// futures and timers, and what it cannot see, says [`Standstill::verdict`].
    ///
    /// # Errors
    /// [`StandstillError::CalledFromInside`], [`StandstillError::ShutDown`].
    pub fn wait_for_standstill(&self) -> Result<Standstill, StandstillError> {
        self.standstill_by(None)
    }

    /// [`wait_for_standstill`](Self::wait_for_standstill), for at most that long.
    ///
    /// # Errors
    /// [`StandstillError`].
    pub fn wait_for_standstill_timeout(
        &self,
        limit: Duration,
    ) -> Result<Standstill, StandstillError> {
        // A deadline that the clock cannot express never comes.
        self.standstill_by(Instant::now().checked_add(limit))
    }

    fn standstill_by(&self, deadline: Option<Instant>) -> Result<Standstill, StandstillError> {
        if self.is_worker() {
            return Err(StandstillError::CalledFromInside);
        }
        let processors = &self.shared.processors;
        loop {
            // Before all is quiet: what begins after this is seen below, however long it takes.
            let before = self.moves();
            let quiet = match deadline {
                None => processors.wait_quiescent().map(|()| true),
                Some(deadline) => processors.wait_quiescent_until(deadline),
            };
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

    /// What each process waits for; none if one has been woken since, or has taken a step while
    /// others were looked at.
    fn look_at_all(&self, before: u64) -> Option<Standstill> {
        let looking = &self.shared.looking;
        let _one_at_a_time = lock(looking);
        // First: what a timer does later than this is seen below.
        let calls = pending_for(self.number(), &|_| false);
        let processes = self.list();
        if processes.iter().any(ProcessInfo::can_run) {
            return None;
        }
        let pending = |process: &&ProcessInfo| process.activity == Activity::Pending;
        let futures: Option<Vec<(Pid, Wakers)>> = processes
            .iter()
            .filter(pending)
            .map(|process| Some((process.pid, self.look_at_future(process.pid)?)))
            .collect();
        let futures = futures?;
        let own: HashSet<WakerId> = futures.iter().map(|(_, wakers)| wakers.id).collect();
        let sleeps = pending_for(usize::MAX, &|waker| own.contains(&WakerId::of(waker)));
        // After the clones were counted: see `Joins`.
        let futures = self.awaited(futures, &processes);
        let timers = PendingTimers {
            count: calls.0 + sleeps.0,
            next: calls.1.min(sleeps.1),
        };
        let standstill = Standstill::new(processes, futures, timers);
        (self.moves() == before).then_some(standstill)
    }

    /// What the futures await, of the processes that live.
    fn awaited(&self, futures: Vec<(Pid, Wakers)>, alive: &[ProcessInfo]) -> Vec<PendingFuture> {
        let mut by_waker = match futures.is_empty() {
            true => HashMap::new(),
            false => self.shared.joins.by_waker(),
        };
        let alive: HashSet<Pid> = alive.iter().map(|process| process.pid).collect();
        let awaited = futures.into_iter().map(|(pid, Wakers { id, clones })| {
            let mut awaits = by_waker.remove(&id).unwrap_or_default();
            // One that has ended has called the waker already.
            awaits.retain(|awaited| alive.contains(awaited));
            awaits.sort_unstable();
            PendingFuture {
                pid,
                wakers: clones.saturating_sub(awaits.len()),
                awaits,
            }
        });
        awaited.collect()
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
