//! What jobs on stacks have in common, whatever their closure.

use std::mem::MaybeUninit;

use filch_sync::cell::UnsafeCell;

use super::job_ref::{Job, Kind};
use crate::latch::Latch;

/// The first field of each such job.
#[repr(C)]
pub(super) struct Head<W: 'static> {
    job: Job<W>,
    /// Is there once the job has become public. Most jobs never do.
    latch: UnsafeCell<MaybeUninit<Latch>>,
}

impl<W> Head<W> {
    #[inline(always)]
    pub(super) fn new(kind: &'static Kind<W>) -> Self {
        Self {
            job: Job::new(kind),
            latch: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// The job is about to become public.
    ///
    /// # Safety
    /// No other thread has it.
    pub(super) unsafe fn prepare(&self) {
        self.latch.with_mut(|latch| {
            // SAFETY: the caller's.
            unsafe { (*latch).write(Latch::new()) };
        });
    }

    /// # Safety
    /// The job was [prepared](Self::prepare), before this.
    pub(super) unsafe fn latch(&self) -> &Latch {
        // SAFETY: the caller's. It is not written again, as the job is public or stolen.
        self.latch
            .with(|latch| unsafe { (*latch).assume_init_ref() })
    }
}
