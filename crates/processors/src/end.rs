//! The end: a pool that has been told to stop is over at the first moment at which nothing can run
//! any more, and not before.
//!
//! That is the moment that [quiescence](crate::quiescence) is about, and who stops a pool is one
//! who waits for it. Until then everything goes on as ever: calls that are under way come back, and
//! what they wait for, or leave behind, is run.

use filch_sync::atomic::{Ordering, fence};

use crate::Processors;
use crate::crew::{Crew, Work};

impl Crew {
    /// No task is awaited any more: as soon as nothing can run, all machines leave.
    pub fn stop(&self, work: &impl Work) {
        self.board.stop();
        // ORDERING: partner of the fence in `announce_quiescence`. Either who goes idle last sees
        // that the pool stops, or we see it idle.
        fence(Ordering::SeqCst);
        self.try_end(work);
    }

    /// The pool stops: if nothing can run any more, it is over, and everybody is told to leave.
    /// Whoever makes that so calls this afterwards, so the last one finds it so.
    pub(crate) fn try_end(&self, work: &impl Work) {
        let mut roster = self.roster();
        if roster.over {
            return;
        }
        // ORDERING: Relaxed: it changes under the lock that we have. If there is none, the pool has
        // not been started: nothing will ever run, whatever is queued.
        if self.live.load(Ordering::Relaxed) > 0 {
            // Decided and done in one step: a producer that comes a moment later wakes nobody, who
            // would then run beside the end.
            let Some(still) = self.still_moment(work) else {
                return;
            };
            if !self.idle.close(still) {
                return;
            }
            while let Some((hold, machine)) = self.take_idle() {
                self.lay_down(hold, &mut roster);
                self.dismiss(machine, &mut roster);
            }
            // Nobody else counts, and nobody is there to be woken.
            let _ = self.idle.stop_searching();
        }
        roster.over = true;
        for spare in std::mem::take(&mut roster.spares) {
            self.dismiss(spare, &mut roster);
        }
        // All of them wait: one that had a task would have a processor, or be away.
        for bond in std::mem::take(&mut roster.bonds) {
            roster.bound -= 1;
            self.dismiss(bond.machine, &mut roster);
        }
        let nobody_is_left = roster.threads == 0;
        drop(roster);
        if nobody_is_left {
            self.announce_end();
        }
    }

    /// Whether the pool is over: nobody runs in it, or will.
    pub fn is_over(&self) -> bool {
        self.roster().over
    }

    /// Whether the pool is over, and its last thread has left, or could not be had. Whoever leaves,
    /// or could not get a thread, asks afterwards: the last one of them is told so, and must
    /// announce it.
    pub fn is_deserted(&self) -> bool {
        let roster = self.roster();
        roster.over && roster.threads == 0
    }
}

impl<T: Send + 'static> Processors<T> {
    /// Lets the threads leave, once no work remains: when all that has been scheduled has run, and
    /// every [`blocking`](Self::blocking) call has come back. Until then everything goes on as
    /// before. A task that is scheduled from outside when the threads have left stays where it is.
    /// Takes a lock for a moment; blocks for no task.
    pub fn stop(&self) {
        self.crew.stop(&self.queues);
    }

    /// A thread has left, or could not be had. If there is none left now, this is the end.
    pub(crate) fn end_if_deserted(&self) {
        if !self.crew.is_deserted() {
            return;
        }
        // With it go references to the pool and to the runner, whose destructor may be anybody's.
        let starter = crate::lock(&self.starter).take();
        crate::panic::contain(|| drop(starter));
        self.crew.announce_end();
    }
}
