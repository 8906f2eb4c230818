//! The edges of a process that is over: they say which thread has the rest of its queue.

use filch_sync::atomic::Ordering;

use crate::answer::{Disposal, Edge, IllegalTransition, Wake};
use crate::state::{Reason, Snapshot};
use crate::transition::ProcessState;

impl ProcessState {
    /// Any state: the caller had begun a push and gave up, and its remains in the queue must be
    /// cleared away. If the life is over, answers as [`wake`](Self::wake); else does not wake the
    /// process: the thread that drains the queue next clears them away, at the latest the one that
    /// disposes of it when the place is [vacated](Self::vacate). Never answers [`Wake::Enqueue`].
    ///
    /// Everything before `retract` happens before the return of the next edge that ends the life,
    /// or disposes of the queue. Lock-free.
    pub fn retract(&self) -> Wake {
        // ORDERING: Release pairs with the Acquire of `complete` and `dispose`: without it the last
        // drain might not see what the push has left. An RMW and not a load, which may be old: it
        // may say that the process lives when nobody will drain any more.
        let mut old = Snapshot::from_bits(self.word.fetch_or(0, Ordering::Release));
        while old.is_complete() {
            // ORDERING: Relaxed, both: the RMW above has released what this thread did, and this
            // one continues its release sequence; the Acquire is that of `dispose`. If it finds
            // that another life has begun, its owner had the queue, and found nothing unfinished.
            match self.word.compare_exchange(
                old.bits(),
                old.woken(Reason::Message).bits(),
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Wake::of_over(old),
                Err(now) => old = Snapshot::from_bits(now),
            }
        }
        Wake::Noted
    }

    /// Complete → Complete: nobody needs the place any more. Returns true if the caller has the
    /// queue now, and must [dispose](Self::dispose) of it. Else another thread has it, and will be
    /// told that the place is vacated.
    ///
    /// The last user of the place calls this, once a life. Everything before happens before the
    /// return of the `dispose` that reports it. Wait-free, like `start`.
    ///
    /// # Errors
    /// The process is not Complete.
    pub fn vacate(&self) -> Result<bool, IllegalTransition> {
        let mut was_at_rest = false;
        // ORDERING: Release pairs with the Acquire of `dispose`: without it the thread that gives
        // the place away could do so while its last user is still there. Acquire pairs with the
        // Release of `complete` and `dispose`: without it two threads could touch the queue.
        self.take(
            Edge::Vacate,
            Snapshot::is_complete,
            Ordering::AcqRel,
            |now| {
                was_at_rest = !now.is_in_hands();
                now.vacated()
            },
        )?;
        Ok(was_at_rest)
    }

    /// Complete → Complete: the caller has the queue, and has disposed of its contents, or makes
    /// its first call. Answers [`Disposal::Drain`] to the first call, and if a wake-up was refused
    /// or the place was vacated since the last one; else another thread will be told to dispose of
    /// later contents.
    ///
    /// Everything that the threads which came since did happens before the return. Everything that
    /// the caller did happens before the return of the next call that gives the queue to a thread.
    /// Lock-free: it answers `Drain` a second time only because another thread came meanwhile.
    ///
    /// # Errors
    /// The process is not Complete, or nobody has its queue.
    pub fn dispose(&self) -> Result<Disposal, IllegalTransition> {
        // Other threads only add events, so a second attempt finds those of the first.
        let mut answer = Disposal::Done;
        // ORDERING: Acquire pairs with the Release of `wake`, `retract` and `vacate`: without it
        // the next drain could miss what they left to the caller. Release pairs with their Acquire:
        // the next thread that has the queue comes after this one.
        self.take(
            Edge::Dispose,
            Snapshot::is_in_hands,
            Ordering::AcqRel,
            |now| {
                if now.has_news() {
                    let vacated = now.is_vacated();
                    answer = Disposal::Drain { vacated };
                    now.held()
                } else {
                    now.at_rest()
                }
            },
        )?;
        Ok(answer)
    }
}
