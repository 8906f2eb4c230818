//! `join`: one branch is run here and now, and the other one lies in reach of thieves meanwhile.

use crate::job::forked;
use crate::worker::Worker;

impl Worker {
    /// Runs both, perhaps at the same time, and returns what they return. `a` runs on this thread;
    /// `b` on whichever thread has nothing else to do, and on this one after `a` if there is none.
    /// Each is given the worker of the thread that it runs on.
    ///
    /// It allocates nothing. What the caller did before happens before both, and both happen before
    /// the return.
    ///
    /// # Panics
    /// If one of them panics, when both have ended; `b` runs also if `a` panics. If both do, with
    /// what `a` says.
    #[inline(always)]
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&Worker) -> RA,
        B: FnOnce(&Worker) -> RB + Send,
        RB: Send,
    {
        forked::join(self, a, b)
    }
}
