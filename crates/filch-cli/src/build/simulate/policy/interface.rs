//! The interface between a simulation and a policy.

use crate::build::simulate::farm::{Farm, Worker};
use crate::build::simulate::graph::{Job, Time};

/// The state at a call of a policy, and the receiver of its decisions.
#[derive(Debug)]
pub(crate) struct Moment<'a, 'g> {
    pub(crate) now: Time,
    pub(crate) farm: &'a Farm<'g>,
    /// Jobs that begin now, each on a worker that has reported a free slot.
    pub(crate) starts: &'a mut Vec<(Worker, Job)>,
}

/// Decides which worker runs which job. Each job becomes ready once and starts once; each call of
/// `free` gives a worker one slot more, and each start takes one.
pub(crate) trait Policy {
    /// Reports that all inputs of the job have been made.
    fn ready(&mut self, job: Job, moment: &mut Moment<'_, '_>);

    /// Reports that the worker has a free slot.
    fn free(&mut self, worker: Worker, moment: &mut Moment<'_, '_>);

    /// Reports that the worker has made the artifact of the job. `gained` follows if it is new
    /// there.
    fn ended(&mut self, _worker: Worker, _job: Job, _moment: &mut Moment<'_, '_>) {}

    /// Reports that the worker has the artifact in its cache from now on.
    fn gained(&mut self, _worker: Worker, _artifact: Job, _moment: &mut Moment<'_, '_>) {}

    /// Returns the time of the next [`advance`](Self::advance), if it wants one.
    fn next_deadline(&self) -> Option<Time> {
        None
    }

    /// Reports that its next deadline has come.
    fn advance(&mut self, _moment: &mut Moment<'_, '_>) {}
}
