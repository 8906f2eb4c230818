//! A decision, the names in it, and the reports of a planner.

/// A place, with the number of one of its occupants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) place: u32,
    pub(super) serial: u64,
}

/// Names a worker of one scheduler, until that worker is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkerId(pub(super) Key);

/// Names a pick that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PickId(pub(super) Key);

/// A decision: the worker, which asked by that pick, runs the job. No other pick gets the job,
/// unless it is given back.
#[derive(Debug)]
pub struct Grant<'a, I, J, P> {
    /// The worker.
    pub worker: WorkerId,
    /// The job's id.
    pub id: &'a I,
    /// The content of the job.
    pub content: &'a mut J,
    /// The content of the pick.
    pub pick: P,
}

/// The receiver of decisions, one after another.
pub type Sink<'s, I, J, P> = &'s mut dyn FnMut(Grant<'_, I, J, P>);

/// The ids in the three queues of a worker, oldest entry first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queues<'a, I> {
    /// Jobs that any worker may have.
    pub global: Vec<&'a I>,
    /// The first local queue: jobs whose result this worker has.
    pub own: Vec<&'a I>,
    /// The second local queue: jobs with a dependency that this worker has.
    pub near: Vec<&'a I>,
}

/// The sizes of a planner's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Jobs that wait or run.
    pub jobs: usize,
    /// Those of them that a deadline moves to another queue.
    pub waits: usize,
    /// Picks that wait.
    pub picks: usize,
    /// Workers.
    pub workers: usize,
    /// Ids that a worker has, or a job, or on which a job depends.
    pub artifacts: usize,
}

/// The jobs and picks of a removed worker.
#[derive(Debug)]
pub struct Removed<I, P> {
    /// The jobs that it ran; another pick may have got one already.
    pub given_back: Vec<I>,
    /// The contents of its waiting picks, oldest first.
    pub picks: Vec<P>,
}

/// A job of that id waits or runs already.
#[derive(Debug)]
pub struct AlreadyPending<'a, J> {
    /// The content of the job that is there.
    pub there: &'a mut J,
    /// The content of the new job.
    pub content: J,
}
