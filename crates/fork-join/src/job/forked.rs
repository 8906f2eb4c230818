//! Forked jobs: they lie on their owner's stack, and in its deque.

use std::hint::black_box;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use filch_sync::panic::discard;

use super::forks::Entry;
use super::job_ref::Payload;
use super::lent::lend;
use super::runs::Runs;
use super::stack::StackJob;

/// Runs `a` here, and `b` here or on the thread that steals it.
///
/// # Panics
/// If one of them does, when both have ended. If both do, with what `a` says.
#[inline(always)]
pub(crate) fn join<W, A, B, RA, RB>(worker: &W, a: A, b: B) -> (RA, RB)
where
    W: Runs,
    A: FnOnce(&W) -> RA,
    B: FnOnce(&W) -> RB + Send,
    RB: Send,
{
    let deque = &worker.forks().0;
    let position = deque.position();
    let forked = Forked {
        job: StackJob::new(worker, b),
        position,
    };
    let entry = forked.entry();
    // SAFETY: the position is that of now, and `settle` follows.
    let (worker, a) = match unsafe { deque.push_at(position, entry) } {
        true => (worker, a),
        false => {
            // What lives across this call in a register costs a recursion a push and a pop on each
            // of its levels, also where it does not fork. So the worker is read again, and a
            // closure of some words is laid where the compiler must take it to be changed. (One of
            // a word is often a reference. What that refers to is better off in registers.)
            let mut a = a;
            if size_of::<A>() > size_of::<usize>() {
                black_box(&mut a);
            }
            settle(worker);
            (forked.worker(), a)
        }
    };
    let ra = a(worker);
    let rb = if forked.take_back() {
        let worker = forked.worker();
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

#[cold]
#[inline(never)]
fn settle<W: Runs>(worker: &W) {
    worker.forks().0.settle();
    worker.answer();
}

#[cold]
#[inline(never)]
fn take_back_slowly<W: Runs>(worker: &W, position: u64) -> bool {
    // SAFETY: `take_back` has just said `false` of it.
    let is_there = unsafe { worker.forks().0.take_back_slowly(position) };
    worker.answer();
    is_there
}

/// A job that lies in the deque, and is not moved until it has been taken back or is done. Dropped
/// before that, because the other branch unwinds, it ends first.
struct Forked<'worker, W, F, R>
where
    W: Runs,
    F: FnOnce(&W) -> R,
{
    job: StackJob<'worker, W, F, R>,
    position: u64,
}

impl<'worker, W, F, R> Forked<'worker, W, F, R>
where
    W: Runs,
    F: FnOnce(&W) -> R,
{
    /// To be put into the deque. The closure and its result may change threads.
    #[inline(always)]
    fn entry(&self) -> Entry<W>
    where
        F: Send,
        R: Send,
    {
        Entry(self.job.job())
    }

    #[inline(always)]
    fn worker(&self) -> &'worker W {
        self.job.owner
    }

    /// Whether the job is the owner's again; or a thief has it.
    #[inline(always)]
    fn take_back(&self) -> bool {
        // SAFETY: the job was pushed there. What was forked after it has ended, as `join` sees to,
        // and so is not in the deque. The slow way follows.
        let is_back = unsafe { self.worker().forks().0.take_back(self.position) };
        is_back || take_back_slowly(self.worker(), self.position)
    }

    /// What came of the job, which a thief has: this waits for it.
    #[cold]
    #[inline(never)]
    fn wait(&self) -> Result<R, Payload> {
        let latch = self.job.latch();
        lend(latch, || self.worker().wait(latch));
        // SAFETY: this is the owner, and it is done.
        unsafe { self.job.take_result() }
    }
}

impl<W, F, R> Drop for Forked<'_, W, F, R>
where
    W: Runs,
    F: FnOnce(&W) -> R,
{
    /// The branch that runs here unwinds. What the other one says is lost then, and what it returns
    /// is dropped.
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let result = if self.take_back() {
                // SAFETY: this is the owner, and took it back.
                let b = unsafe { self.job.take_closure() };
                Ok(b(self.worker()))
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
