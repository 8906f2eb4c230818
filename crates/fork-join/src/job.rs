//! Jobs: closures that wait to be run, on the stack of the thread that forked them or in a box.

use std::any::Any;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;

use filch_parker::Unparker;
use filch_sync::atomic::{AtomicBool, Ordering};
use filch_sync::cell::UnsafeCell;

use crate::latch::{Awaited, Latch, Thief};

/// What a panic said.
pub(crate) type Payload = Box<dyn Any + Send>;

/// Where a job lies. It is run once, by the thread that takes it out of a queue; or taken back by
/// its owner.
pub(crate) struct JobRef<W>(NonNull<Job<W>>);

impl<W> Clone for JobRef<W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for JobRef<W> {}

// SAFETY: a job is made of a closure and a result that may change threads; a caller that makes a
// `JobRef` sees to that.
unsafe impl<W> Send for JobRef<W> {}

/// What a job is given: the worker of the thread that runs it.
pub(crate) trait Runs {
    /// The thread that runs it.
    fn thief(&self) -> Thief;

    /// The job with that latch is done: its owner is woken, if that sleeps. The job may be gone
    /// when this returns.
    fn finish(&self, latch: &Latch);
}

/// What a job is, whatever its closure. The first field of each job.
#[repr(C)]
pub(crate) struct Job<W> {
    run: unsafe fn(NonNull<Self>, &W),
}

impl<W> JobRef<W> {
    /// Runs the job on the calling thread. No panic comes out of it.
    ///
    /// # Safety
    /// The caller has taken it out of a queue.
    pub(crate) unsafe fn run(self, worker: &W) {
        // SAFETY: the job lies there until it has run (contract of those that make a `JobRef`), and
        // the function is that of its type.
        unsafe { (self.0.as_ref().run)(self.0, worker) }
    }

    /// The word of which it is made.
    pub(crate) fn into_raw(self) -> NonNull<()> {
        self.0.cast()
    }

    /// The job again.
    ///
    /// # Safety
    /// It comes from [`into_raw`](Self::into_raw).
    pub(crate) unsafe fn from_raw(raw: NonNull<()>) -> Self {
        Self(raw.cast())
    }
}

/// Taken out once, by the thread that runs it.
type Closure<F> = UnsafeCell<ManuallyDrop<F>>;

/// What came of a closure, once it has ended.
type Outcome<R> = UnsafeCell<MaybeUninit<Result<R, Payload>>>;

/// # Safety
/// The closure is the caller's alone, and taken out once.
#[inline(always)]
unsafe fn take<F>(closure: &Closure<F>) -> F {
    // SAFETY: the caller's.
    closure.with_mut(|closure| unsafe { ManuallyDrop::take(&mut *closure) })
}

/// # Safety
/// No other thread touches it before it is told to.
#[inline(always)]
unsafe fn put<R>(place: &Outcome<R>, result: Result<R, Payload>) {
    place.with_mut(|place| {
        // SAFETY: the caller's.
        unsafe { (*place).write(result) };
    });
}

/// # Safety
/// It was [put](put) there before, and is read once.
#[inline(always)]
unsafe fn read<R>(place: &Outcome<R>) -> Result<R, Payload> {
    // SAFETY: the caller's.
    place.with(|place| unsafe { (*place).assume_init_read() })
}

/// A job on its owner's stack. The owner does not leave the frame before it has taken the job back,
/// or its latch says that it is done.
#[repr(C)]
pub(crate) struct StackJob<W, F, R> {
    job: Job<W>,
    latch: Latch,
    closure: Closure<F>,
    result: Outcome<R>,
}

impl<W, F, R> StackJob<W, F, R>
where
    W: Runs,
    F: FnOnce(&W) -> R,
{
    #[inline(always)]
    pub(crate) fn new(closure: F) -> Self {
        Self {
            job: Job { run: Self::run },
            latch: Latch::new(),
            closure: UnsafeCell::new(ManuallyDrop::new(closure)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// To be put into a queue. The closure and its result may go to the thread that takes it out;
    /// the caller sees to it that they may, and that the job stays where it is until it is taken
    /// back or done.
    #[inline(always)]
    pub(crate) fn as_ref(&self) -> JobRef<W> {
        JobRef(NonNull::from(self).cast())
    }

    #[inline(always)]
    pub(crate) fn latch(&self) -> &Latch {
        &self.latch
    }

    /// Runs a stolen job.
    unsafe fn run(job: NonNull<Job<W>>, worker: &W) {
        // SAFETY: `new` made the function that of the type; the job lies there until it is done.
        let this = unsafe { job.cast::<Self>().as_ref() };
        this.latch.begin(worker.thief());
        // SAFETY: the thief has the job, and takes the closure out once.
        let closure = unsafe { take(&this.closure) };
        let result = catch_unwind(AssertUnwindSafe(|| closure(worker)));
        // SAFETY: nobody looks at the result before the latch says that it is there.
        unsafe { put(&this.result, result) };
        // Nothing of the job is touched after this.
        worker.finish(&this.latch);
    }

    /// The closure, of a job that was never stolen, or taken back.
    ///
    /// # Safety
    /// The caller is the owner, and the job is in no queue.
    #[inline(always)]
    pub(crate) unsafe fn take_closure(&self) -> F {
        // SAFETY: the caller's.
        unsafe { take(&self.closure) }
    }

    /// What came of a job that is done.
    ///
    /// # Safety
    /// The caller is the owner, has seen in the latch that the job is done, and takes it once.
    #[inline(always)]
    pub(crate) unsafe fn take_result(&self) -> Result<R, Payload> {
        // SAFETY: the caller's: the thief wrote it before the latch said so.
        unsafe { read(&self.result) }
    }
}

/// Runs `work` on a thread of the pool into whose queue `inject` puts it. The calling thread waits
/// meanwhile, as `wait` says, and is woken by that unparker.
///
/// # Panics
/// If `work` does.
pub(crate) fn install<W, R: Send>(
    work: impl FnOnce(&W) -> R + Send,
    unparker: Unparker,
    inject: impl FnOnce(JobRef<W>),
    wait: impl FnOnce(&dyn Awaited),
) -> R {
    let job = InstallJob::new(work, unparker);
    // SAFETY: `work` and its result may change threads, and this waits until it is done.
    inject(unsafe { job.as_ref() });
    wait(&job);
    assert!(
        job.is_done(),
        "the job lies on this stack, and was not waited for"
    );
    // SAFETY: it is done.
    match unsafe { job.take_result() } {
        Ok(result) => result,
        Err(payload) => resume_unwind(payload),
    }
}

/// A job on the stack of a thread outside of the pool, which sleeps until it is done.
#[repr(C)]
struct InstallJob<W, F, R> {
    job: Job<W>,
    is_done: AtomicBool,
    unparker: Unparker,
    closure: Closure<F>,
    result: Outcome<R>,
}

impl<W, F, R> InstallJob<W, F, R>
where
    F: FnOnce(&W) -> R,
{
    /// Its thread is woken by that.
    fn new(closure: F, unparker: Unparker) -> Self {
        Self {
            job: Job { run: Self::run },
            is_done: AtomicBool::new(false),
            unparker,
            closure: UnsafeCell::new(ManuallyDrop::new(closure)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// To be put into a queue.
    ///
    /// # Safety
    /// The closure and its result may change threads, and the job stays where it is until it is
    /// done.
    unsafe fn as_ref(&self) -> JobRef<W> {
        JobRef(NonNull::from(self).cast())
    }

    unsafe fn run(job: NonNull<Job<W>>, worker: &W) {
        // SAFETY: as for a `StackJob`.
        let this = unsafe { job.cast::<Self>().as_ref() };
        // SAFETY: this thread has the job, and takes the closure out once.
        let closure = unsafe { take(&this.closure) };
        let result = catch_unwind(AssertUnwindSafe(|| closure(worker)));
        // SAFETY: nobody looks at it before it is done.
        unsafe { put(&this.result, result) };
        // Kept: the job may be gone once it is done.
        let unparker = this.unparker.clone();
        // ORDERING: Release, for the Acquire in `is_done`.
        this.is_done.store(true, Ordering::Release);
        unparker.unpark();
    }

    /// What came of it.
    ///
    /// # Safety
    /// It is done, and this is called once.
    unsafe fn take_result(&self) -> Result<R, Payload> {
        // SAFETY: the caller's.
        unsafe { read(&self.result) }
    }
}

impl<W, F, R> Awaited for InstallJob<W, F, R> {
    fn is_done(&self) -> bool {
        // ORDERING: Acquire, for the Release in `run`: the result.
        self.is_done.load(Ordering::Acquire)
    }

    fn thief(&self) -> Option<Thief> {
        None
    }

    /// It wakes its thread in any case.
    fn sleep(&self, _: usize) -> bool {
        !self.is_done()
    }
}

/// A job in a box, which nobody waits for. A panic is its closure's business.
#[repr(C)]
pub(crate) struct HeapJob<W, F> {
    job: Job<W>,
    closure: F,
}

impl<W, F> HeapJob<W, F>
where
    F: FnOnce(&W),
{
    /// To be put into a queue. One that is never run leaks.
    #[cfg(not(loom))] // where nothing is spawned without a scope
    pub(crate) fn detached(closure: F) -> JobRef<W>
    where
        F: Send + 'static,
    {
        // SAFETY: it may change threads, and borrows nothing.
        unsafe { Self::boxed(closure) }
    }

    /// To be put into a queue. One that is never run leaks.
    ///
    /// # Safety
    /// The closure may change threads, and what it borrows lives until it has run.
    pub(crate) unsafe fn boxed(closure: F) -> JobRef<W> {
        let job = Box::new(Self {
            job: Job { run: Self::run },
            closure,
        });
        JobRef(NonNull::from(Box::leak(job)).cast())
    }

    unsafe fn run(job: NonNull<Job<W>>, worker: &W) {
        // SAFETY: `boxed` made it of a box, and it is run once.
        let this = unsafe { Box::from_raw(job.cast::<Self>().as_ptr()) };
        (this.closure)(worker);
    }
}
