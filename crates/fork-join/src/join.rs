//! Joins. A forked job lies in its owner's frame, and its address in the owner's deque.

use std::any::type_name;
use std::hint::black_box;
use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;

use filch_sync::cell::UnsafeCell;
use filch_sync::panic::discard;

use crate::api::global::global;
use crate::current;
use crate::job::{Awaited, Entry, Job, Kind, Lent, Name, Payload};
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
        let position = self.forks().position();
        let forked = Forked::new(self, position, b);
        let entry = forked.entry();
        // SAFETY: the position is that of now, and `finish_push` follows.
        let (worker, a) = match unsafe { self.forks().push_at(position, entry) } {
            true => (self, a),
            false => {
                // What lives across this call in a register costs a recursion a push and a pop on
                // each of its levels, also where it does not fork. So the worker is read again, and
                // a closure of some words is laid where the compiler must take it to be changed.
                // (One of a word is often a reference. What that refers to is better off in
                // registers.)
                let mut a = a;
                if size_of::<A>() > size_of::<usize>() {
                    black_box(&mut a);
                }
                finish_push(self);
                (forked.owner, a)
            }
        };
        let ra = a(worker);
        let rb = if forked.take_back() {
            let worker = forked.owner;
            // SAFETY: this is the owner, and took it back.
            let b = unsafe { forked.take_closure() };
            mem::forget(forked);
            b(worker)
        } else {
            let result = forked.wait();
            mem::forget(forked);
            result.unwrap_or_else(|payload| resume_unwind(payload))
        };
        (ra, rb)
    }
}

/// [`Worker::join`] for callers that do not have the worker at hand. Outside of a pool, both run on
/// the [global](crate::Pool::global) one.
///
/// # Panics
/// As there; and outside of a pool, if there can be no global one.
#[inline(always)]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    // A closure, which a recursion calls: its own frame stays small where it does not fork.
    let join = |worker: Option<&Worker>| match worker {
        Some(worker) => worker.join(|_| a(), |_| b()),
        None => {
            // In places of their own from here on: then those of the usual case are registers.
            let mut both = None;
            join_outside(&mut Some(a), &mut Some(b), &mut both);
            both.unwrap_or_else(|| unreachable!("it returns when both have ended"))
        }
    };
    // SAFETY: the closure gives it to `Worker::join`, whose results cannot hold it.
    join(unsafe { current::worker() })
}

/// Joins on a thread that has no worker yet: with a worker of a scheduler's attached pool, if the
/// thread is that scheduler's, else on the global pool.
#[cold]
#[inline(never)]
fn join_outside<A, B, RA, RB>(a: &mut Option<A>, b: &mut Option<B>, both: &mut Option<(RA, RB)>)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let (Some(a), Some(b)) = (a.take(), b.take()) else {
        unreachable!("the caller has put them there");
    };
    *both = Some(current::with_attached(|worker| match worker {
        Some(worker) => worker.join(|_| a(), |_| b()),
        None => global().install(|worker| worker.join(|_| a(), |_| b())),
    }));
}

#[cold]
#[inline(never)]
fn finish_push(worker: &Worker) {
    worker.forks().finish_push();
    worker.answer();
}

#[cold]
#[inline(never)]
fn take_back_slowly(worker: &Worker) -> bool {
    // SAFETY: `take_back` has just said `false`.
    let is_there = unsafe { worker.forks().take_back_slowly() };
    worker.answer();
    is_there
}

/// A job that lies in the deque, and is not moved until it has been taken back, or its latch says
/// that it is done. Dropped before that, because the other branch unwinds, it ends first. Neither
/// the closure nor the result is dropped with it: they are taken out.
#[repr(C)]
struct Forked<'worker, F: FnOnce(&Worker) -> R, R> {
    job: Job,
    owner: &'worker Worker,
    /// Where the job lies in the deque.
    position: u64,
    closure: UnsafeCell<ManuallyDrop<F>>,
    result: UnsafeCell<MaybeUninit<Result<R, Payload>>>,
}

impl<'worker, F: FnOnce(&Worker) -> R, R> Forked<'worker, F, R> {
    const KIND: Kind = Kind {
        name: Name(type_name::<F>),
        run: Self::run,
    };

    #[inline(always)]
    fn new(owner: &'worker Worker, position: u64, closure: F) -> Self {
        Self {
            job: Job::new(&Self::KIND),
            owner,
            position,
            closure: UnsafeCell::new(ManuallyDrop::new(closure)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Returns the job as an entry of the deque. Its closure and result may change threads.
    #[inline(always)]
    fn entry(&self) -> Entry
    where
        F: Send,
        R: Send,
    {
        // SAFETY: `join` does not leave it before the thief, who has the only entry, has run it.
        unsafe { Entry::new(NonNull::from(self).cast()) }
    }

    /// Runs a stolen job.
    ///
    /// # Safety
    /// It is the first field of such a job, and the caller has that.
    unsafe fn run(job: NonNull<Job>, worker: &Worker) {
        // SAFETY: `new` made the function that of the type; the job lies there until it is done.
        let this = unsafe { job.cast::<Self>().as_ref() };
        let latch = this.job.latch();
        latch.begin(worker.as_thief());
        // SAFETY: the thief has the job.
        let closure = unsafe { this.take_closure() };
        let result = catch_unwind(AssertUnwindSafe(|| closure(worker)));
        // SAFETY: nobody looks at the result before the latch says that it is there.
        this.result
            .with_mut(|place| unsafe { (*place).write(result) });
        // Of the owner, which runs on, no more than the slot is looked at. Nothing of the job is
        // touched after this.
        worker.shared.finish(latch, this.owner.index());
    }

    /// # Safety
    /// The job is the caller's alone, and this is called once.
    #[inline(always)]
    unsafe fn take_closure(&self) -> F {
        // SAFETY: the caller's.
        self.closure
            .with_mut(|closure| unsafe { ManuallyDrop::take(&mut *closure) })
    }

    /// Takes the job back; `false` if a thief has it.
    #[inline(always)]
    fn take_back(&self) -> bool {
        // What was forked after it has ended, as `join` sees to. So it is the newest in the deque;
        // or a thief has it, and all that is older. SAFETY: the slow way follows.
        let is_back = unsafe { self.owner.forks().take_back(self.position) };
        is_back || take_back_slowly(self.owner)
    }

    /// Waits for the job, which a thief has, and returns its result.
    #[cold]
    #[inline(never)]
    fn wait(&self) -> Result<R, Payload> {
        let latch = self.job.latch();
        let lent = Lent;
        if !latch.is_done() {
            self.owner.wait_for(latch);
        }
        lent.end(latch);
        // SAFETY: this is the owner, and the thief has left the result. It is taken once: nobody
        // waits again.
        self.result
            .with(|place| unsafe { (*place).assume_init_read() })
    }
}

impl<F: FnOnce(&Worker) -> R, R> Drop for Forked<'_, F, R> {
    /// Cleans up as the branch that runs here unwinds: the other one's panic is lost then, and its
    /// result dropped.
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let result = if self.take_back() {
                // SAFETY: this is the owner, and took it back.
                let b = unsafe { self.take_closure() };
                Ok(b(self.owner))
            } else {
                self.wait()
            };
            drop(result);
        }));
        ended.unwrap_or_else(discard);
    }
}
