//! A job of a graph, the end that it may have, and the summary of all.

use std::collections::BTreeMap;
use std::time::Duration;
use std::{fmt, io};

use thiserror::Error;

use crate::digest::NotADigest;
use crate::storage::StorageError;
use crate::worker::RunError;

/// The name of the cache's folder, in that of the project.
pub(super) const CACHE: &str = ".filch";

/// A job of a graph: its command, inputs and outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub(super) id: String,
    pub(super) line: usize,
    pub(super) command: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    /// Patterns of files of the project, and their lines.
    pub(super) inputs: Vec<(String, usize)>,
    /// The indices of jobs in the graph, sorted.
    pub(super) deps: Vec<usize>,
    /// Sorted.
    pub(super) outputs: Vec<String>,
    pub(super) timeout: Option<Duration>,
    /// True if its command may use the network.
    pub(super) network: bool,
}

impl Job {
    /// Returns its id in the file.
    pub fn id(&self) -> &str {
        &self.id
    }
}

/// The reason that a job failed.
#[derive(Debug, Error)]
pub enum JobError {
    /// Its command ended with this exit code.
    #[error("its command ended with the exit code {0}")]
    ExitCode(i32),
    /// Its command has not made this output.
    #[error("its command did not make the output {0:?}")]
    NoOutput(String),
    /// It could not be run, or not to its end.
    #[error(transparent)]
    NotRun(#[from] RunError),
    /// An output or an input is not one that can be used, for this reason.
    #[error("{0}")]
    Unusable(String),
    /// The cache failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A file of the project could not be read or written.
    #[error("{path}: {error}")]
    File {
        /// Its path in the project.
        path: String,
        /// The error.
        error: io::Error,
    },
}

impl From<NotADigest> for JobError {
    fn from(error: NotADigest) -> Self {
        Self::Unusable(error.to_string())
    }
}

/// The end of a job.
#[derive(Debug)]
pub enum Outcome {
    /// Its command ran.
    Built,
    /// Its result was known.
    Cached,
    /// It failed.
    Failed(JobError),
    /// It depends on a job that failed, or the build ended first.
    Skipped,
}

/// The summary of a build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Jobs whose command ran.
    pub built: usize,
    /// Jobs whose result was known.
    pub cached: usize,
    /// Jobs that failed.
    pub failed: usize,
    /// Jobs that depend on one that failed, or that had not begun when the build ended.
    pub skipped: usize,
    /// Its duration.
    pub time: Duration,
    /// The chain of dependencies that took longest: ids, the first to run first.
    pub critical_path: Vec<String>,
    /// The duration of that chain's jobs.
    pub critical_time: Duration,
}

impl Summary {
    pub(super) fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Built => self.built += 1,
            Outcome::Cached => self.cached += 1,
            Outcome::Failed(_) => self.failed += 1,
            Outcome::Skipped => self.skipped += 1,
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            built,
            cached,
            failed,
            skipped,
            time,
            ..
        } = self;
        let (time, critical) = (time.as_secs_f64(), self.critical_time.as_secs_f64());
        write!(
            f,
            "{built} built, {cached} cached, {failed} failed, {skipped} skipped"
        )?;
        write!(f, " in {time:.2} s")?;
        if !self.critical_path.is_empty() {
            let path = self.critical_path.join(" -> ");
            write!(f, "\ncritical path of {critical:.2} s: {path}")?;
        }
        Ok(())
    }
}
