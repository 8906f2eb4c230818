//! The pools of equal workers, the actions that wait for them, and the reasons to refuse one.

use std::sync::Arc;

use filch_build_scheduler::{Platform, Pools, Properties, Scheduler};
use tokio::sync::oneshot;
use tonic::Code;

use super::failure::Failure;
use super::run::{Outcome, Run, Work};
use super::workers::Roster;
use crate::digest::Digest;

/// The most platforms that a failure names.
const MOST_NAMED: usize = 8;

/// Workers of one platform, and the scheduler that chooses among them. It stops with the last one.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) platform: Arc<Platform>,
    pub(super) scheduler: Scheduler<Digest, Work, Outcome>,
    pub(super) roster: Roster,
}

/// A pool, as long as the queue knows it: its last worker may have gone a moment ago.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) pool: Arc<Pool>,
    /// The number of the last worker's departure.
    pub(super) left: u64,
}

/// An action in the queue or in a pool.
#[derive(Debug)]
pub(super) struct Entered {
    pub(super) run: Arc<Run>,
    /// The end of its wait in the queue.
    pub(super) give: Option<oneshot::Sender<Result<Arc<Pool>, Failure>>>,
}

impl Entered {
    fn tell(&mut self, given: Result<Arc<Pool>, Failure>) {
        if let Some(give) = self.give.take() {
            // If nobody listens, its place is about to be dropped.
            let _ = give.send(given);
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) queue: Pools<Known, Entered>,
    pub(super) stopped: bool,
}

impl State {
    /// Gives pools with room their next actions, and recalls one that another pool could begin.
    pub(super) fn give(&mut self) {
        let give = |known: &Known, entered: &mut Entered| entered.tell(Ok(Arc::clone(&known.pool)));
        self.queue.give(give, |entered| {
            let recalled = entered.run.recall();
            if recalled {
                // It waits for news of its priority.
                entered.run.priority.send_modify(|_| ());
            }
            recalled
        });
    }

    pub(super) fn is_absent(&self, expected: &Properties) -> bool {
        let mut known = self.queue.pools.keys();
        !known.any(|platform| expected.is_subset(&platform.properties))
    }

    /// Returns the reason that no worker can ever run the action, if so.
    pub(super) fn refusal(&self, needs: &Platform, expected: &[Properties]) -> Option<Failure> {
        if self.stopped {
            return Some(Failure::stopped());
        }
        // The capacity of workers that have not come is not known.
        let comes = |expected: &Properties| {
            needs.properties.is_subset(expected) && self.is_absent(expected)
        };
        let fits = self.queue.pools.keys().any(|platform| platform.fits(needs));
        if fits || expected.iter().any(comes) {
            return None;
        }
        let known = self.queue.pools.keys().take(MOST_NAMED);
        let known: Vec<_> = known.map(ToString::to_string).collect();
        let known = match self.queue.pools.len() - known.len() {
            0 => known.join("; "),
            more => format!("{}; and {more} others", known.join("; ")),
        };
        let what = format!("no worker can run the action: it asks for {needs}; there is: {known}");
        Some(Failure::new(Code::FailedPrecondition, what))
    }

    /// Ends the wait of actions that no worker can run any more.
    pub(super) fn refuse(&mut self, expected: &[Properties]) {
        for needs in self.queue.needs() {
            if let Some(refusal) = self.refusal(&needs, expected) {
                for mut entered in self.queue.take_all(&needs) {
                    entered.tell(Err(refusal.clone()));
                }
            }
        }
    }
}
