//! The moment at which nothing can run any more, unless something becomes runnable from outside.

use std::error::Error;
use std::fmt;
use std::time::Instant;

use filch_sync::atomic::{Ordering, fence};
use filch_sync::{lock, wait_until};

use crate::protocol::state::coordinator::Coordinator;
use crate::protocol::state::idle::Snapshot;
use crate::protocol::state::work::Work;

/// An error: no quiescence is to come, since the pool has been stopped, its threads have exited,
/// and some tasks, which came too late, will never run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeverQuiescent;

impl fmt::Display for NeverQuiescent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the pool was stopped before these tasks came: they will never run")
    }
}

impl Error for NeverQuiescent {}

impl Coordinator {
    /// Returns whether at some moment during the call all processors were idle (or inactive), all
    /// queues empty, and no blocking call under way. `true` is exact; `false` may be about a
    /// wake-up in vain.
    pub fn is_quiescent(&self, work: &impl Work) -> bool {
        self.quiescent_snapshot(work)
            .is_some_and(|snapshot| self.idle.is_unchanged(snapshot))
    }

    /// A snapshot of such a moment, if [`Idle`](crate::protocol::Idle) confirms that it lasts.
    pub(crate) fn quiescent_snapshot(&self, work: &impl Work) -> Option<Snapshot> {
        // The cheap part. While the idle word stays as it is, no machine is woken: what is idle
        // stays so.
        let snapshot = self.idle.snapshot()?;
        // ORDERING: Acquire, partner of the Release in `deactivate`: if a processor does not count
        // any more, we see that its machine went away, and what it left in the global queue.
        if snapshot.idle != self.activated.load(Ordering::Acquire) {
            return None;
        }
        // ORDERING: Relaxed: a machine goes away while it has a processor, whose going idle was
        // acquired with the word, and whose being given up with `activated`; and it is back while
        // it has one again: if that is what we see, `is_unchanged` sees that it was taken off the
        // stack.
        // So with a bound machine that was called for a task: it is in line before the machine that
        // has found the task goes idle, and leaves it when a processor was taken off the stack.
        if self.away.load(Ordering::Relaxed) > 0 || self.control_word().waiting() > 0 {
            return None;
        }
        // ORDERING: partner of the producer's fence in `processor_to_wake`. Either the look at the
        // queues sees its task, or the producer sees all processors idle, and has yet to wake one:
        // then its task comes after our moment.
        fence(Ordering::SeqCst);
        (!work.exists()).then_some(snapshot)
    }

    /// Blocks until there is such a moment, or there will be none, or until the deadline at most.
    /// Returns whether there was such a moment.
    ///
    /// # Errors
    /// [`NeverQuiescent`].
    pub fn await_quiescence_until(
        &self,
        work: &impl Work,
        deadline: Option<Instant>,
    ) -> Result<bool, NeverQuiescent> {
        let observers = &self.observers;
        // All that is seen from here on is seen after what the caller did before, by the lock.
        let before = lock(&observers.moments).seen;
        // ORDERING: Relaxed: the fence orders it.
        observers.count.fetch_add(1, Ordering::Relaxed);
        // ORDERING: partner of the fence in `announce_quiescence`.
        fence(Ordering::SeqCst);
        let mut outcome = self.is_quiescent(work).then_some(Ok(true));
        let mut moments = lock(&observers.moments);
        let outcome = loop {
            if let Some(outcome) = outcome {
                break outcome;
            }
            if moments.seen != before {
                outcome = Some(Ok(true));
            } else if moments.over {
                outcome = Some(if work.exists() {
                    Err(NeverQuiescent)
                } else {
                    Ok(true)
                });
            } else {
                let over;
                (moments, over) =
                    wait_until(&observers.changed, &observers.moments, moments, deadline);
                outcome = (over && moments.seen == before).then_some(Ok(false));
            }
        };
        drop(moments);
        // ORDERING: Relaxed: a machine that looks once too often does no harm.
        observers.count.fetch_sub(1, Ordering::Relaxed);
        outcome
    }
}
