//! What is noted of an artifact, a job and a worker.

use std::collections::HashSet;

use super::lists::{Chain, List};

/// An id that a worker has, that a job has, or that a job depends on.
pub(super) struct Artifact<I> {
    pub(super) id: I,
    pub(super) holders: Vec<u32>,
    pub(super) job: Option<u32>,
    /// The jobs that depend on it and do not run; `None` before the first one.
    pub(super) dependents: Option<List>,
    /// How many jobs depend on it.
    pub(super) references: u32,
}

pub(super) struct Job<J> {
    pub(super) stage: Stage,
    /// When the stage ends: `Cached` and `Local`.
    pub(super) deadline: u64,
    pub(super) artifact: u32,
    pub(super) dependencies: Box<[u32]>,
    /// Its place in `cached`, `local`, `global` or `running`.
    pub(super) home: Chain,
    /// Its places in queues of workers, and among the dependents of artifacts.
    pub(super) near: Chain,
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
    /// The first queue: jobs of which it has the result.
    pub(super) own: List,
    /// The second queue: jobs of which it has a dependency.
    pub(super) near: List,
    /// What it runs.
    pub(super) running: List,
    /// Its picks that wait.
    pub(super) picks: List,
    pub(super) held: HashSet<u32>,
}
