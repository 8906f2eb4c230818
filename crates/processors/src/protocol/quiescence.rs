//! The moment at which nothing can run any more, unless something becomes runnable from outside;
//! and the end, of a pool that has been told to stop, at the first such moment, and not before.
//!
//! A thread that stops a pool is one that waits for that moment. Until then everything goes on:
//! calls that are under way come back, and what they wait for, or leave behind, is run.

use std::error::Error;
use std::fmt;
use std::time::Instant;

use filch_sync::atomic::{Ordering, fence};
use filch_sync::{lock, wait_until};

use crate::protocol::state::coordinator::{Coordinator, Work};
use crate::protocol::state::idle::Snapshot;
use crate::protocol::state::synced::Synced;

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
        let is_quiescent = self.is_quiescent(work);
        let mut is_late = false;
        let mut moments = lock(&observers.moments);
        let outcome = loop {
            if is_quiescent || moments.seen != before || moments.over && !work.exists() {
                break Ok(true);
            }
            if moments.over {
                break Err(NeverQuiescent);
            }
            if is_late {
                break Ok(false);
            }
            (moments, is_late) =
                wait_until(&observers.changed, &observers.moments, moments, deadline);
        };
        drop(moments);
        // ORDERING: Relaxed: a machine that looks once too often does no harm.
        observers.count.fetch_sub(1, Ordering::Relaxed);
        outcome
    }

    /// Stops the pool: as soon as nothing can run, all machines exit.
    pub fn stop(&self, work: &impl Work) {
        self.control.stop();
        // ORDERING: partner of the fence in `announce_quiescence`. Either the machine that goes
        // idle last sees that the pool stops, or we see it idle.
        fence(Ordering::SeqCst);
        self.try_end(work);
    }

    /// Ends a pool that stops, if nothing can run any more: every machine is told to exit. Each
    /// thread that makes that so calls this afterwards, so the last one finds it so.
    pub(crate) fn try_end(&self, work: &impl Work) {
        let mut synced = self.synced();
        if synced.over {
            return;
        }
        // ORDERING: Relaxed: it changes under the lock that we have. If it is zero, none of the
        // threads has come. If one may come still, it ends the pool when it has found no work.
        if self.activated.load(Ordering::Relaxed) == 0 {
            // So it does if all processors are missing, and their threads in blocking calls.
            if synced.expected > 0 && !synced.gives_up || synced.missing > 0 {
                return;
            }
        } else {
            // Decided and done in one step: a producer that comes a moment later wakes no machine,
            // which would then run beside the end.
            let Some(snapshot) = self.quiescent_snapshot(work) else {
                return;
            };
            if !self.idle.close(snapshot) {
                return;
            }
            while let Some((permit, machine)) = self.take_idle() {
                self.deactivate(permit, &mut synced);
                self.tell_to_exit(machine, &mut synced);
            }
            // There is none to be woken or borrowed any more.
            self.idle.open();
        }
        self.end(&mut synced);
    }

    /// Tells every machine that waits to exit: nothing runs any more, or will.
    pub(crate) fn end(&self, synced: &mut Synced) {
        synced.over = true;
        for spare in std::mem::take(&mut synced.spares) {
            self.tell_to_exit(spare, synced);
        }
        // All of them wait: one that had a task would have a processor, or be in a call.
        for binding in std::mem::take(&mut synced.bindings) {
            self.tell_to_exit(binding.machine, synced);
        }
        if synced.threads == 0 {
            self.announce_end();
        }
    }

    /// Announces that the last thread of a stopped pool has exited.
    pub(crate) fn announce_end(&self) {
        self.observers.report(|moments| moments.over = true);
    }

    /// Returns whether the pool is over: nothing runs in it, or will.
    pub fn is_over(&self) -> bool {
        self.synced().over
    }

    /// Returns whether the pool is over, and its last thread has exited, or could not be had. A
    /// thread that exits, or could not start another one, asks afterwards: the last one of them is
    /// told so, and must announce it.
    pub fn is_deserted(&self) -> bool {
        let synced = self.synced();
        synced.over && synced.threads == 0
    }
}
