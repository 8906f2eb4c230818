//! The end of a scheduler: cancel, wait, abort, count what is stuck.

use std::time::Duration;

use filch_process_state::Reason;
use filch_sync::atomic::Ordering;

use crate::{Handle, Pid, Protocol};

/// What a shutdown found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// How many processes lived when it began, and were sent a cancel event.
    pub cancelled: usize,
    /// How many had not ended when its patience had, and were closed instead of stepped.
    pub aborted: usize,
    /// Processes that had still not ended at the very end: in the middle of user code, or queued
    /// behind one that is. They end, and their threads leave, when they get there.
    pub stuck: Vec<Pid>,
}

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
            self.cancel(process.pid());
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
        self.abort_all();
        let all_ended = self.shared.admission.wait(patience.max(CLOSING));
        ShutdownReport {
            cancelled,
            // ORDERING: Relaxed: what matters was counted before the leaving that `wait` acquired.
            aborted: self.shared.aborted.load(Ordering::Relaxed),
            stuck: if all_ended {
                Vec::new()
            } else {
                self.processes()
            },
        }
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

/// How long workers get, at least, to close processes that only wait: that is the workers' task,
/// and no matter of patience with processes.
const CLOSING: Duration = Duration::from_secs(3);
