//! A decision, and the names in it.

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
