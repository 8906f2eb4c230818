//! A snapshot of the farm for people: the status page and the metrics are made from it.

use std::sync::Arc;
use std::time::SystemTime;

use filch_build_scheduler::Platform;

use crate::digest::Digest;

/// A snapshot of the farm.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The time of the snapshot.
    pub at: SystemTime,
    /// The start of this coordinator.
    pub started: SystemTime,
    /// The connected workers, sorted by name.
    pub workers: Vec<Worker>,
    /// The actions that wait for a worker.
    pub waiting: usize,
    /// The ends of actions since the start.
    pub actions: Actions,
    /// The last builds, the latest first.
    pub builds: Vec<Build>,
    /// The last actions that failed, the latest first.
    pub failed: Vec<Failed>,
    /// The last workers that were lost, the latest first.
    pub lost: Vec<Lost>,
    /// The platforms that are expected, or were here a moment ago, and have no worker.
    pub absent: Vec<String>,
}

/// An action that failed.
#[derive(Debug, Clone)]
pub struct Failed {
    /// The action.
    pub action: Digest,
    /// The client's kind of action and target; empty if it does not give them.
    pub target: String,
    /// The worker that ran it, and the command; none if it did not run.
    pub run: Option<(String, Running)>,
    /// The time when a client asked for it.
    pub asked: SystemTime,
    /// The time when it ended.
    pub ended: SystemTime,
    /// The reason.
    pub why: String,
    /// The end of its standard error.
    pub stderr: String,
}

/// A worker that was lost.
#[derive(Debug, Clone)]
pub struct Lost {
    /// Its name.
    pub name: String,
    /// The time when it was lost.
    pub at: SystemTime,
    /// The reason.
    pub why: String,
}

/// The number of actions by their end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Actions {
    /// Actions whose result was in the cache: nothing ran.
    pub cached: u64,
    /// Actions whose command ran, with exit code 0.
    pub succeeded: u64,
    /// Actions whose command had another exit code, or could not be run.
    pub failed: u64,
    /// Runs that were repeated: the worker was lost, or gave the action back.
    pub retried: u64,
}

/// A worker.
#[derive(Debug, Clone)]
pub struct Worker {
    /// The name that it gives itself.
    pub name: String,
    /// The address where other workers read its blobs; empty if they cannot.
    pub address: String,
    /// The time when it connected.
    pub since: SystemTime,
    /// The actions that it can run at a time.
    pub slots: usize,
    /// Its platform, whose CPUs and memory its actions share.
    pub platform: Arc<Platform>,
    /// Its runs, oldest first.
    pub running: Vec<Running>,
    /// The number of its blobs.
    pub blobs: usize,
    /// True if it finishes what it runs, and then leaves.
    pub leaving: bool,
}

/// An action that a worker runs.
#[derive(Debug, Clone)]
pub struct Running {
    /// The number of the run, of those of its worker.
    pub run: u64,
    /// The action.
    pub action: Digest,
    /// Its command for people: the arguments, cut after some length.
    pub command: String,
    /// The time when the worker got it.
    pub since: SystemTime,
}

/// A build: the actions of one invocation of a client, or of all clients that do not name theirs.
#[derive(Debug, Clone)]
pub struct Build {
    /// The client's name of it; empty if it has none.
    pub invocation: String,
    /// The client's name and version; empty if it does not give them.
    pub tool: String,
    /// The time when its first action came.
    pub first: SystemTime,
    /// The time when one of its actions last came or ended.
    pub last: SystemTime,
    /// The number of its actions that wait or run.
    pub pending: u64,
    /// The ends of the others.
    pub actions: Actions,
}
