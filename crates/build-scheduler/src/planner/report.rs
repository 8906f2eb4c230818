//! What a planner says of itself, and of what it was told.

/// The ids in the three queues of a worker, oldest entry first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queues<'a, I> {
    /// Jobs that any worker may have.
    pub global: Vec<&'a I>,
    /// The first local queue: jobs of which this worker has the result.
    pub own: Vec<&'a I>,
    /// The second local queue: jobs of which this worker has a dependency.
    pub near: Vec<&'a I>,
}

/// How many there are of what a planner remembers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Jobs that wait or run.
    pub jobs: usize,
    /// Picks that wait.
    pub picks: usize,
    /// Workers.
    pub workers: usize,
    /// Ids that a worker has, that a job has, or that a job depends on.
    pub artifacts: usize,
}

/// What a worker leaves when it is removed.
#[derive(Debug)]
pub struct Removed<I, P> {
    /// The jobs that it ran; another pick may have got one already.
    pub given_back: Vec<I>,
    /// What was given with its picks that waited, oldest first.
    pub picks: Vec<P>,
}

/// A job of that id waits or runs already.
#[derive(Debug)]
pub struct AlreadyPending<'a, J> {
    /// What was given with the job that is there.
    pub there: &'a mut J,
    /// What was given now.
    pub content: J,
}
