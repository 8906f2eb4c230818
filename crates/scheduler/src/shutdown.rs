//! How it all ends: cancel, wait, abort, count who is stuck.

use std::time::Duration;

use filch_process_state::Reason;
use filch_sync::atomic::{Ordering, fence};

use crate::{Handle, Pid, Protocol};

/// What a shutdown found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShutdownReport {
    /// How many processes lived when it began, and were sent a cancel event.
    pub cancelled: usize,
    /// How many had not ended when its patience had, and were closed.
    pub aborted: usize,
    /// Processes that were in the middle of a step at the very end, and could not be closed.
    pub stuck: Vec<Pid>,
}

impl<P: Protocol> Handle<P> {
    /// Admits no process from now on and asks all that live to end. Returns how many were asked.
    pub(crate) fn cancel_all(&self) -> usize {
        self.shared.admission.close();
        // ORDERING: the fence's partner is the one in `submit`: a process that the walk below does not find yet will see
        // the closed door, and is cancelled by its submitter.
        fence(Ordering::SeqCst);
        let mut asked = 0;
        for process in self.table().iter() {
            self.cancel(process.pid);
            asked += 1;
        }
        asked
    }

    /// Ends all processes, by asking and then by closing them.
    pub(crate) fn end_all(&self, patience: Duration) -> ShutdownReport {
        let cancelled = self.cancel_all();
        if self.shared.admission.wait(patience) {
            return ShutdownReport {
                cancelled,
                ..ShutdownReport::default()
            };
        }
        let left = self.live();
        self.abort_all();
        // Those that wait or are queued are closed as soon as a worker comes to them: that has no part in the
        // patience with those that run.
        if self.shared.admission.wait(patience.max(CLOSING)) {
            return ShutdownReport {
                cancelled,
                aborted: left,
                stuck: Vec::new(),
            };
        }
        let stuck = self.processes();
        ShutdownReport {
            cancelled,
            aborted: left.saturating_sub(stuck.len()),
            stuck,
        }
    }

    /// Has every process closed instead of stepped, the next time that a worker has it.
    fn abort_all(&self) {
        // ORDERING: Relaxed: ordered by the RMWs on each process's state; see `Driver::step`.
        self.shared.aborting.store(true, Ordering::Relaxed);
        for process in self.table().iter() {
            self.wake(process.pid, process.slot, Reason::Cancel);
        }
    }

    /// A process that had been admitted is gone. The last one of a closed scheduler sends the workers home.
    pub(crate) fn leave(&self) {
        if self.shared.admission.leave() {
            self.shared.processors.stop();
        }
    }
}

/// How long workers get to close what only waits, even by a shutdown without patience.
const CLOSING: Duration = Duration::from_secs(1);
