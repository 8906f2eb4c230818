//! `join`: one branch is run here and now, and the other one lies in reach of thieves meanwhile.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use filch_sync::panic::discard;

use crate::current;
use crate::job::{JobRef, StackJob};
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
        if !unsafe { self.deque().try_push_at(position, job) } {
            self.push_with_care(job);
        }
        let unwinding = Unwinding(&forked);
        let ra = a(self);
        mem::forget(unwinding);
        (ra, forked.end())
    }

    #[cold]
    #[inline(never)]
    fn push_with_care(&self, job: JobRef) {
        self.deque().push(job);
        self.tell_published();
    }
}

/// A job that lies in the deque, until it is ended. It is not moved meanwhile.
struct Forked<'worker, B, RB>
where
    B: FnOnce(&Worker) -> RB,
{
    worker: &'worker Worker,
    job: StackJob<B, RB>,
    position: u64,
}

impl<B, RB> Forked<'_, B, RB>
where
    B: FnOnce(&Worker) -> RB,
{
    /// Runs the job here, or waits for the thread that has it.
    #[inline(always)]
    fn end(&self) -> RB {
        if self.take_back() {
            // SAFETY: this is the owner, and took it back.
            let b = unsafe { self.job.take_closure() };
            return b(self.worker);
        }
        self.worker.wait(self.job.latch());
        // SAFETY: this is the owner, and it is done.
        match unsafe { self.job.take_result() } {
            Ok(rb) => rb,
            Err(payload) => resume_unwind(payload),
        }
    }

    /// Whether the job is the owner's again; or a thief has it.
    #[inline(always)]
    fn take_back(&self) -> bool {
        let deque = self.worker.deque();
        // SAFETY: the job was pushed there; what was forked after it has ended, and so is not in
        // the deque.
        let is_private = unsafe { deque.try_take_back(self.position) };
        is_private || self.worker.take_back_with_care()
    }
}

impl Worker {
    #[cold]
    #[inline(never)]
    fn take_back_with_care(&self) -> bool {
        let is_there = self.deque().take_back();
        self.tell_published();
        is_there
    }
}

/// Dropped, because the branch that runs here unwinds, it ends the other one first.
struct Unwinding<'job, 'worker, B, RB>(&'job Forked<'worker, B, RB>)
where
    B: FnOnce(&Worker) -> RB;

impl<B, RB> Drop for Unwinding<'_, '_, B, RB>
where
    B: FnOnce(&Worker) -> RB,
{
    /// What the other branch says is lost then, and what it returns is dropped.
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        let ended = catch_unwind(AssertUnwindSafe(|| drop(self.0.end())));
        if let Err(payload) = ended {
            discard(payload);
        }
    }
}

/// [`Worker::join`] for callers that do not have the worker at hand.
///
/// # Panics
/// As there; and outside of a pool.
#[inline(always)]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce() -> RB + Send,
    RB: Send,
{
    current::with(|worker| match worker {
        Some(worker) => worker.join(|_| a(), |_| b()),
        None => panic!("join is called outside of a pool"),
    })
}
