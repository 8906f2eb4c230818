//! A job, whatever its closure.

use std::any::Any;
use std::ptr::NonNull;

/// What a panic said.
pub(crate) type Payload = Box<dyn Any + Send>;

/// A job that was taken out of its queue, or has not been put into one yet. Whoever has it has the
/// job, and runs it once. One that is dropped never runs.
#[must_use = "a job that is dropped never runs"]
pub(crate) struct JobRef<W>(pub(super) NonNull<Job<W>>);

// SAFETY: a job is made of a closure and a result that may change threads (contract of `new`).
unsafe impl<W> Send for JobRef<W> {}

/// What a job is, whatever its closure. The first field of each job.
#[repr(C)]
pub(super) struct Job<W> {
    pub(super) run: unsafe fn(NonNull<Self>, &W),
}

impl<W> JobRef<W> {
    /// # Safety
    /// The job begins with that `Job`, whose `run` may be called with it once, on any thread, at
    /// any time from now on. No panic comes out of that.
    #[inline(always)]
    pub(super) unsafe fn new(job: NonNull<Job<W>>) -> Self {
        Self(job)
    }

    /// Runs the job on the calling thread. No panic comes out of it.
    pub(crate) fn run(self, worker: &W) {
        // SAFETY: once, as `self` is consumed and was made for one call (contract of `new`).
        unsafe { (self.0.as_ref().run)(self.0, worker) }
    }
}
