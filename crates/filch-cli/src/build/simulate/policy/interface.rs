//! What a simulation tells a policy, and what it wants to know.

use crate::build::simulate::farm::{Farm, Worker};
use crate::build::simulate::graph::{Job, Time};

/// What is the case when a policy is told something, and where its decisions go.
#[derive(Debug)]
pub(crate) struct Moment<'a, 'g> {
    pub(crate) now: Time,
    pub(crate) farm: &'a Farm<'g>,
    /// Jobs that begin now, each on a worker that had told that it has a slot for it.
    pub(crate) starts: &'a mut Vec<(Worker, Job)>,
}

/// Decides which worker runs which job. Each job becomes ready once and starts once; a worker that
/// is told to be free has one slot more, and each start takes one.
pub(crate) trait Policy {
    /// All inputs of the job have been made.
    fn ready(&mut self, job: Job, moment: &mut Moment<'_, '_>);

    /// The worker has a free slot.
    fn free(&mut self, worker: Worker, moment: &mut Moment<'_, '_>);

    /// The worker has made the artifact of the job. Whether it keeps it is told next.
    fn ended(&mut self, _worker: Worker, _job: Job, _moment: &mut Moment<'_, '_>) {}

    /// The worker has the artifact in its cache from now on.
    fn gained(&mut self, _worker: Worker, _artifact: Job, _moment: &mut Moment<'_, '_>) {}

    /// The worker does not have the artifact in its cache any more.
    fn lost(&mut self, _worker: Worker, _artifact: Job, _moment: &mut Moment<'_, '_>) {}

    /// When it wants to be told the time next.
    fn next_deadline(&self) -> Option<Time> {
        None
    }

    /// Its next deadline has come.
    fn advance(&mut self, _moment: &mut Moment<'_, '_>) {}
}
