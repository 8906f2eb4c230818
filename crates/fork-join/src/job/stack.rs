//! A job on the stack of the thread that forked it.

use std::any::type_name;
use std::ptr::NonNull;

use super::content::Content;
use super::job_ref::{Job, Kind, Payload};
use super::name::Name;
use super::runs::Runs;
use crate::latch::Latch;

/// A job on its owner's stack. The owner does not leave the frame before it has taken the job back,
/// or its latch says that it is done.
#[repr(C)]
pub(super) struct StackJob<'owner, W: 'static, F, R> {
    job: Job<W>,
    pub(super) owner: &'owner W,
    content: Content<F, R>,
}

impl<'owner, W, F, R> StackJob<'owner, W, F, R>
where
    W: Runs,
    F: FnOnce(&W) -> R,
{
    const KIND: Kind<W> = Kind {
        name: Name(type_name::<F>),
        run: Self::run,
        scope: Job::without_scope,
    };

    #[inline(always)]
    pub(super) fn new(owner: &'owner W, closure: F) -> Self {
        Self {
            job: Job::new(&Self::KIND),
            owner,
            content: Content::new(closure),
        }
    }

    /// To be put into the deque.
    #[inline(always)]
    pub(super) fn job(&self) -> NonNull<Job<W>> {
        NonNull::from(self).cast()
    }

    pub(super) fn latch(&self) -> &Latch {
        self.job.latch()
    }

    /// Runs a stolen job.
    ///
    /// # Safety
    /// It is the first field of such a job, and the caller has that.
    unsafe fn run(job: NonNull<Job<W>>, worker: &W) {
        // SAFETY: `new` made the function that of the type; the job lies there until it is done.
        let this = unsafe { job.cast::<Self>().as_ref() };
        let latch = this.latch();
        latch.begin(worker.thief());
        // SAFETY: the thief has the job; nobody looks at the result before the latch says that it
        // is there.
        unsafe { this.content.run(worker) };
        // Nothing of the job is touched after this.
        worker.finish(latch, this.owner);
    }

    /// The closure, of a job that was never stolen, or taken back.
    ///
    /// # Safety
    /// The caller is the owner, the job is in no queue, and this is called once.
    #[inline(always)]
    pub(super) unsafe fn take_closure(&self) -> F {
        // SAFETY: the caller's.
        unsafe { self.content.take_closure() }
    }

    /// What came of a job that is done.
    ///
    /// # Safety
    /// The caller is the owner, has seen in the latch that the job is done, and takes it once.
    #[inline(always)]
    pub(super) unsafe fn take_result(&self) -> Result<R, Payload> {
        // SAFETY: the caller's: the thief wrote it before the latch said so.
        unsafe { self.content.take_result() }
    }
}
