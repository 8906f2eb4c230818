//! The end: a pool that has been told to stop is over at the first moment at which nothing can run
//! any more, and not before.
//!
//! That is the moment that [quiescence](super::quiescence) is about, and a thread that stops a pool
//! is one that waits for it. Until then everything goes on: calls that are under way come back, and
//! what they wait for, or leave behind, is run.

use filch_sync::atomic::{Ordering, fence};

use crate::protocol::state::coordinator::Coordinator;
use crate::protocol::state::synced::Synced;
use crate::protocol::state::work::Work;

impl Coordinator {
    /// Stops the pool: as soon as nothing can run, all machines exit.
    pub fn stop(&self, work: &impl Work) {
        self.control.stop();
        // ORDERING: partner of the fence in `announce_quiescence`. Either the machine that goes
        // idle last sees that the pool stops, or we see it idle.
        fence(Ordering::SeqCst);
        self.try_end(work);
    }

    /// Returns whether the pool has been told to stop. Work that a caller has published before, and
    /// has [waked one](Self::wake_one) for, is run before the pool is over, if it hears `false`.
    ///
    /// By the fence in there, whose partner is the one in [`stop`](Self::stop): either this sees
    /// that the pool stops, or the look that ends it sees the work.
    pub fn is_ending(&self) -> bool {
        self.control_word().is_stopping()
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
