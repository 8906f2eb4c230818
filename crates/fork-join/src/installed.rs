//! A job on the stack of a thread that is no worker of the pool.

use std::any::type_name;
use std::panic::resume_unwind;
use std::ptr::NonNull;

use filch_parker::Unparker;
use filch_sync::atomic::{AtomicBool, Ordering};

use crate::content::Content;
use crate::job::{Job, JobRef, Kind, Name};
use crate::latch::{Awaited, Thief};
use crate::lent::lend;
use crate::worker::Worker;

/// Runs `work` on a thread of the pool into whose queue `inject` puts it. The calling thread waits
/// meanwhile, as `wait` says, and is woken by that unparker.
///
/// # Panics
/// If `work` does.
pub(crate) fn install<R: Send>(
    work: impl FnOnce(&Worker) -> R + Send,
    unparker: Unparker,
    inject: impl FnOnce(JobRef),
    wait: impl FnOnce(&dyn Awaited),
) -> R {
    let job = InstallJob::new(work, unparker);
    lend(&job, || {
        // SAFETY: `work` and its result may change threads, and this frame is not left before the
        // job is done.
        inject(unsafe { job.as_ref() });
        wait(&job);
    });
    // SAFETY: it is done, and this is the only reader.
    match unsafe { job.content.take_result() } {
        Ok(result) => result,
        Err(payload) => resume_unwind(payload),
    }
}

/// A job on the stack of a thread outside of the pool, which sleeps until it is done.
#[repr(C)]
struct InstallJob<F, R> {
    job: Job,
    is_done: AtomicBool,
    unparker: Unparker,
    content: Content<F, R>,
}

impl<F, R> InstallJob<F, R>
where
    F: FnOnce(&Worker) -> R,
{
    const KIND: Kind = Kind {
        name: Name(type_name::<F>),
        run: Self::run,
        scope: Job::without_scope,
    };

    /// Its thread is woken by that.
    fn new(closure: F, unparker: Unparker) -> Self {
        Self {
            job: Job::new(&Self::KIND),
            is_done: AtomicBool::new(false),
            unparker,
            content: Content::new(closure),
        }
    }

    /// To be put into a queue.
    ///
    /// # Safety
    /// The closure and its result may change threads, and the job stays where it is until it is
    /// done.
    unsafe fn as_ref(&self) -> JobRef {
        // SAFETY: `run` is the function of this type. The rest is the caller's.
        unsafe { JobRef::new(NonNull::from(self).cast()) }
    }

    /// # Safety
    /// It is the first field of such a job, and the caller has that.
    unsafe fn run(job: NonNull<Job>, worker: &Worker) {
        // SAFETY: `new` made the function that of the type; the job lies there until it is done.
        let this = unsafe { job.cast::<Self>().as_ref() };
        // SAFETY: this thread has the job; nobody looks at the result before it is done.
        unsafe { this.content.run(worker) };
        // Kept: the job may be gone once it is done.
        let unparker = this.unparker.clone();
        // ORDERING: Release, for the Acquire in `is_done`.
        this.is_done.store(true, Ordering::Release);
        unparker.unpark();
    }
}

impl<F, R> Awaited for InstallJob<F, R> {
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
