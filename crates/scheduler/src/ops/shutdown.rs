//! The end of a scheduler: cancel, wait, abort, and say what is left.

use std::fmt;
use std::time::{Duration, Instant};

use filch_process_state::Reason;
use filch_sync::atomic::Ordering;

use crate::{Cancel, Handle, Pid, Protocol, RunningCall};

/// What a shutdown found. Its [`Display`](fmt::Display) is for the log: a line, and one more for
/// each call that still runs.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// How many processes lived when it began, and were sent a cancel event.
    pub cancelled: usize,
    /// How many had not ended when its patience had, and were closed instead of stepped.
    pub aborted: usize,
    /// Processes that had still not ended at the very end: in the middle of user code, be it `init`
    /// on the thread that submits, or queued behind one that is. They end, and their threads leave,
    /// when they get there.
    pub stuck: Vec<Pid>,
    /// The calls of the user's code that had not returned at the very end, whether or not their
    /// processes have ended. Their threads are left to themselves. If there are none, all workers
    /// have left.
    pub running: Vec<RunningCall>,
}

impl ShutdownReport {
    /// Whether nothing was left: no process, and no call on any thread.
    pub fn is_clean(&self) -> bool {
        self.stuck.is_empty() && self.running.is_empty()
    }
}

impl fmt::Display for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cancelled, aborted) = (self.cancelled, self.aborted);
        write!(f, "{cancelled} processes cancelled, {aborted} closed")?;
        if self.is_clean() {
            return f.write_str(", nothing left");
        }
        let (stuck, running) = (self.stuck.len(), self.running.len());
        write!(f, ", {stuck} have not ended, {running} calls still run")?;
        for call in &self.running {
            write!(f, "\n  {call}")?;
        }
        let runs = |pid: &&Pid| self.running.iter().any(|call| call.process == Some(**pid));
        for pid in self.stuck.iter().filter(|pid| !runs(pid)).take(MAX_PIDS) {
            write!(f, "\n  process {pid} waits for a worker, or is in `init`")?;
        }
        Ok(())
    }
}

/// How many of the processes that wait for a worker are named.
const MAX_PIDS: usize = 16;

/// Until when a shutdown waits for what.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    /// How long processes are given to end by themselves.
    patience: Duration,
    /// When it ends, whatever runs then. A moment that the clock cannot express never comes.
    pub(crate) end: Option<Instant>,
}

impl Times {
    pub(crate) fn from_now(patience: Duration) -> Self {
        let end = patience
            .checked_add(CLOSING)
            .and_then(|all| Instant::now().checked_add(all));
        Self { patience, end }
    }

    fn left(&self) -> Duration {
        let left = |end: Instant| end.saturating_duration_since(Instant::now());
        self.end.map_or(Duration::MAX, left)
    }
}

/// How long workers get to close processes that only wait, and to leave: that is the workers' task,
/// and no matter of patience with processes.
const CLOSING: Duration = Duration::from_secs(3);

impl<P: Protocol> Handle<P> {
    /// Admits no process from now on and asks all that live to end. Returns how many were asked.
    pub(crate) fn cancel_all(&self) -> usize {
        if self.shared.admission.close() {
            // As `leave` does for the last process.
            self.shared.processors.stop();
        }
        // A process that the walk below does not find has come into its slot after the walk has
        // been there, so that its submitter sees the closed admission, and cancels it: see
        // `Table::iter`.
        let mut asked = 0;
        for process in self.table().iter() {
            let _ = self.ask_to_end(process.pid(), Cancel::shutdown());
            asked += 1;
        }
        asked
    }

    /// Ends all processes, by asking and then by closing them. Says what of them is left.
    pub(crate) fn end_all(&self, times: Times) -> ShutdownReport {
        // The first look: from here on it is known for how long something has run.
        let _ = self.shared.processors.running();
        let cancelled = self.cancel_all();
        if self.shared.admission.wait(times.patience) {
            return ShutdownReport {
                cancelled,
                ..ShutdownReport::default()
            };
        }
        self.abort_all();
        let all_ended = self.shared.admission.wait(times.left());
        let mut report = ShutdownReport {
            cancelled,
            // ORDERING: Relaxed: what matters was counted before the leaving that `wait` acquired.
            aborted: self.shared.aborted.load(Ordering::Relaxed),
            ..ShutdownReport::default()
        };
        if !all_ended {
            report.stuck = self.processes();
            report.running = self.running();
        }
        report
    }

    /// Has every process closed instead of stepped, the next time that a worker has it.
    fn abort_all(&self) {
        // ORDERING: Relaxed: ordered by the RMWs on each process's state; see `Driver::end_asked`.
        self.shared.aborting.store(true, Ordering::Relaxed);
        for process in self.table().iter() {
            self.wake(process.slot(), Reason::Cancel);
        }
    }

    /// A process that had been admitted is gone. The last one of a closed scheduler stops the
    /// workers.
    pub(crate) fn leave(&self) {
        let worker = self.shared.processors.current();
        if self.shared.admission.leave(worker) {
            self.shared.processors.stop();
        }
    }
}
