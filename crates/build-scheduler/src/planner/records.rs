//! The records of an artifact, a job and a worker.

use super::ids::IdHash;
use super::lists::{Chain, List};
use super::numbers::{NumberSet, Numbers};

/// An id that a worker has, or a job, or on which a job depends.
pub(super) struct Artifact<I> {
    pub(super) id: I,
    pub(super) holders: Numbers,
    pub(super) job: Option<u32>,
    /// The jobs that depend on it and do not run; `None` before the first one.
    pub(super) dependents: Option<List>,
    /// The number of jobs that depend on it.
    pub(super) references: u32,
    pub(super) hash: IdHash,
}

pub(super) struct Job<J> {
    /// The end of the stage, if it is `Cached` or `Local`.
    pub(super) deadline: u64,
    pub(super) stage: Stage,
    pub(super) artifact: u32,
    /// Its place in `cached`, `local`, `global` or `running`.
    pub(super) home: Chain,
    /// Its places in queues of workers, and among the dependents of artifacts.
    pub(super) near: Chain,
    pub(super) dependencies: Numbers,
    pub(super) content: J,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Waits for a worker that has its result.
    Cached,
    /// Waits for a worker that has a dependency.
    Local,
    /// Waits for any worker.
    Global,
    /// Runs on that worker.
    Running(u32),
}

pub(super) struct Worker {
    /// The number of workers registered before it.
    pub(super) serial: u64,
    /// The first queue: jobs whose result it has.
    pub(super) own: List,
    /// The second queue: jobs with a dependency that it has.
    pub(super) near: List,
    /// The jobs that it runs.
    pub(super) running: List,
    /// Its waiting picks.
    pub(super) picks: List,
    pub(super) held: NumberSet,
}
