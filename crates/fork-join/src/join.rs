//! `join`: one branch is run here and now, and the other one lies in reach of thieves meanwhile.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use filch_sync::panic::discard;

use crate::job::{JobRef, Payload, StackJob};
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
        let position = self.deque().position();
        let forked = Forked {
            worker: self,
            job: StackJob::new(b),
            position,
        };
        let job = forked.job.as_ref();
        // SAFETY: the position is that of now. And `b` and its result may change threads, and the
        // job stays where it is until `forked` has taken it back or seen that it is done.
        let worker = match unsafe { self.deque().try_push_at(position, job) } {
            true => self,
            false => self.push_with_care(job),
        };
        let ra = a(worker);
        let rb = if let Some(worker) = forked.take_back() {
            // SAFETY: this is the owner, and took it back.
            let b = unsafe { forked.job.take_closure() };
            mem::forget(forked);
            b(worker)
        } else {
            let result = forked.wait();
            mem::forget(forked);
            result.unwrap_or_else(|payload| resume_unwind(payload))
        };
        (ra, rb)
    }

    /// Returns the worker, as [`take_back_with_care`](Self::take_back_with_care) does: a caller
    /// that had to keep it across a call would save one register more on each level of a recursion.
    #[cold]
    #[inline(never)]
    fn push_with_care(&self, job: JobRef<Worker>) -> &Self {
        self.deque().push(job);
        self.tell_published();
        self
    }
}

/// A job that lies in the deque, and is not moved until it has been taken back or is done. Dropped
/// before that, because the other branch unwinds, it ends first.
struct Forked<'worker, B, RB>
where
    B: FnOnce(&Worker) -> RB,
{
    worker: &'worker Worker,
    job: StackJob<Worker, B, RB>,
    position: u64,
}

impl<'worker, B, RB> Forked<'worker, B, RB>
where
    B: FnOnce(&Worker) -> RB,
{
    /// The worker, if the job is the owner's again; or a thief has it.
    #[inline(always)]
    fn take_back(&self) -> Option<&'worker Worker> {
        let deque = self.worker.deque();
        // SAFETY: the job was pushed there; what was forked after it has ended, and so is not in
        // the deque.
        match unsafe { deque.try_take_back(self.position) } {
            true => Some(self.worker),
            false => self.worker.take_back_with_care(),
        }
    }

    /// What came of the job, which a thief has: this waits for it.
    #[cold]
    #[inline(never)]
    fn wait(&self) -> Result<RB, Payload> {
        self.worker.wait(self.job.latch());
        // SAFETY: this is the owner, and it is done.
        unsafe { self.job.take_result() }
    }
}

impl Worker {
    #[cold]
    #[inline(never)]
    fn take_back_with_care(&self) -> Option<&Self> {
        let is_there = self.deque().take_back();
        self.tell_published();
        is_there.then_some(self)
    }
}

impl<B, RB> Drop for Forked<'_, B, RB>
where
    B: FnOnce(&Worker) -> RB,
{
    /// The branch that runs here unwinds. What the other one says is lost then, and what it returns
    /// is dropped.
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let result = if self.take_back().is_some() {
                // SAFETY: this is the owner, and took it back.
                let b = unsafe { self.job.take_closure() };
                Ok(b(self.worker))
            } else {
                self.wait()
            };
            drop(result);
        }));
        if let Err(payload) = ended {
            discard(payload);
        }
    }
}
