//! The part that jobs on stacks have in common, whatever their closure.

use super::job_ref::{Job, Kind};
use crate::latch::Latch;

/// The first field of each such job.
#[repr(C)]
pub(super) struct Head<W: 'static> {
    job: Job<W>,
    pub(super) latch: Latch,
}

impl<W> Head<W> {
    #[inline(always)]
    pub(super) fn new(kind: &'static Kind<W>) -> Self {
        Self {
            job: Job::new(kind),
            latch: Latch::new(),
        }
    }
}
