//! The work of a supervisor: one job at a time.

use std::time::Duration;

use crate::plan::child_id::ChildId;
use crate::plan::failure::Failure;
use crate::plan::request::RequestId;

/// Children to end, then children to start, one after another, for a purpose.
#[derive(Debug)]
pub(crate) struct Job {
    /// The last of the list comes next, and is the last of the order.
    pub(crate) to_end: Vec<ChildId>,
    /// The last of the list comes next, and is the first of the order.
    pub(crate) to_start: Vec<ChildId>,
    pub(crate) purpose: Purpose,
}

/// The purpose of a job.
#[derive(Debug)]
pub(crate) enum Purpose {
    /// The supervisor begins.
    Begin,
    /// A child has failed, or its pause is over: its group begins anew.
    Restart,
    /// A child has failed: its group is ended, and the child waits for that duration.
    Pause(ChildId, Duration),
    /// A request to add this child and to start it.
    Add(RequestId, ChildId),
    /// A request to end this child, or to start it again.
    Change(RequestId, ChildId),
    /// The supervisor ends.
    Stop(Result<(), Failure>),
}

impl Job {
    pub(crate) fn ending(to_end: Vec<ChildId>, purpose: Purpose) -> Self {
        Self {
            to_end,
            to_start: Vec::new(),
            purpose,
        }
    }

    pub(crate) fn starting(to_start: Vec<ChildId>, purpose: Purpose) -> Self {
        Self {
            to_end: Vec::new(),
            to_start,
            purpose,
        }
    }
}
