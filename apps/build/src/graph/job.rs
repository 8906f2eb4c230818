//! A job of a graph.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

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
