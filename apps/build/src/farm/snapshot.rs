//! What the farm does at a moment, for people to look at: the status page and the metrics are made
//! of it.

use std::time::SystemTime;

use crate::digest::Digest;

/// What the farm does at a moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The moment.
    pub at: SystemTime,
    /// When this coordinator started.
    pub started: SystemTime,
    /// The workers that are there, by their names.
    pub workers: Vec<Worker>,
    /// How many actions wait for a worker.
    pub waiting: usize,
    /// How the actions ended since the start.
    pub actions: Actions,
    /// The last builds, the latest one first.
    pub builds: Vec<Build>,
}

/// How actions ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Actions {
    /// The result was in the cache: nothing ran.
    pub cached: u64,
    /// The command ran, and its exit code was 0.
    pub succeeded: u64,
    /// The command ended with another exit code, or could not be run.
    pub failed: u64,
    /// Runs that another one had to replace: the worker was lost, or gave the action back.
    pub retried: u64,
}

/// A worker.
#[derive(Debug, Clone)]
pub struct Worker {
    /// As it calls itself.
    pub name: String,
    /// Where other workers read its blobs; empty if they cannot.
    pub address: String,
    /// When it came.
    pub since: SystemTime,
    /// How many actions it runs at a time.
    pub slots: usize,
    /// What it runs, oldest first.
    pub running: Vec<Running>,
    /// How many blobs it has.
    pub blobs: usize,
    /// It ends what it runs, and leaves.
    pub leaving: bool,
}

/// An action that a worker runs.
#[derive(Debug, Clone)]
pub struct Running {
    /// The action.
    pub action: Digest,
    /// Its command, as far as people need it: the arguments, cut after some length.
    pub command: String,
    /// When the worker got it.
    pub since: SystemTime,
}

/// A build: the actions of one invocation of a client, or of clients that do not say which one it
/// is.
#[derive(Debug, Clone)]
pub struct Build {
    /// As the client calls it; empty if it does not.
    pub invocation: String,
    /// The client: its name and version; empty if it does not say.
    pub tool: String,
    /// When its first action came.
    pub first: SystemTime,
    /// When something of it came or ended last.
    pub last: SystemTime,
    /// How many of its actions wait or run.
    pub pending: u64,
    /// How the others ended.
    pub actions: Actions,
}
