//! Jobs in boxes.

use std::any::type_name;
use std::ptr::NonNull;

use super::job_ref::{Job, JobRef, Kind};
use super::name::Name;

/// What is in the box.
pub(super) trait Boxed<W> {
    /// The closure that it is named after.
    type Named;

    fn run(self, worker: &W);

    /// The address of what counts the job, if it is one of a scope.
    fn scope(&self) -> *const ();
}

/// A job in a box.
#[repr(C)]
pub(super) struct HeapJob<W: 'static, B> {
    job: Job<W>,
    content: B,
}

impl<W, B: Boxed<W>> HeapJob<W, B> {
    const KIND: Kind<W> = Kind {
        name: Name(type_name::<B::Named>),
        run: Self::run,
        scope: Self::scope,
    };

    /// # Safety
    /// The content may change threads, what it borrows lives until it has run, and no panic comes
    /// out of it.
    pub(super) unsafe fn boxed(content: B) -> JobRef<W> {
        let job = Box::new(Self {
            job: Job::new(&Self::KIND),
            content,
        });
        // SAFETY: the kind is that of this type, and the box is the job's. The rest is the
        // caller's.
        unsafe { JobRef::new(NonNull::from(Box::leak(job)).cast()) }
    }

    /// # Safety
    /// It is the first field of such a job, and the caller has that.
    unsafe fn run(job: NonNull<Job<W>>, worker: &W) {
        // SAFETY: `boxed` made it of a box, and it is run once.
        let content = unsafe { Box::from_raw(job.cast::<Self>().as_ptr()) }.content;
        content.run(worker);
    }

    /// # Safety
    /// As for [`run`](Self::run), and that has not been called.
    unsafe fn scope(job: NonNull<Job<W>>) -> *const () {
        // SAFETY: `boxed` made it of a box, which is there.
        unsafe { job.cast::<Self>().as_ref() }.content.scope()
    }
}
