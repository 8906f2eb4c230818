//! Jobs in boxes, which nobody waits for.

use std::ptr::NonNull;

use super::job_ref::{Job, JobRef};

/// To be put into a queue. A panic is the closure's business. One that is never run leaks.
#[cfg(not(loom))] // where nothing is spawned without a scope
pub(crate) fn detached<W>(closure: impl FnOnce(&W) + Send + 'static) -> JobRef<W> {
    // SAFETY: it may change threads, and borrows nothing.
    unsafe { HeapJob::boxed(closure) }
}

/// A job in a box.
#[repr(C)]
pub(super) struct HeapJob<W, F> {
    job: Job<W>,
    closure: F,
}

impl<W, F> HeapJob<W, F>
where
    F: FnOnce(&W),
{
    /// # Safety
    /// The closure may change threads, what it borrows lives until it has run, and no panic comes
    /// out of it.
    pub(super) unsafe fn boxed(closure: F) -> JobRef<W> {
        let job = Box::new(Self {
            job: Job { run: Self::run },
            closure,
        });
        // SAFETY: `run` is the function of this type, and the box is the job's. The rest is the
        // caller's.
        unsafe { JobRef::new(NonNull::from(Box::leak(job)).cast()) }
    }

    /// # Safety
    /// It is the first field of such a job, and the caller has that.
    unsafe fn run(job: NonNull<Job<W>>, worker: &W) {
        // SAFETY: `boxed` made it of a box, and it is run once.
        let this = unsafe { Box::from_raw(job.cast::<Self>().as_ptr()) };
        (this.closure)(worker);
    }
}
