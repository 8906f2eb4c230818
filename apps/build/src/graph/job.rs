//! A job of a graph.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::time::Duration;

use crate::storage::StorageError;

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
#[derive(Debug)]
pub enum JobError {
    /// Its command ended with this exit code.
    ExitCode(i32),
    /// Its command has not made this output.
    NoOutput(String),
    /// It could not be run, or not to its end.
    NotRun(tonic::Status),
    /// An output or an input is not one that can be used, for this reason.
    Unusable(String),
    /// The cache failed.
    Storage(StorageError),
    /// A file of the project could not be read or written.
    File {
        /// Its path in the project.
        path: String,
        /// The error.
        error: io::Error,
    },
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ExitCode(code) => write!(f, "its command ended with the exit code {code}"),
            Self::NoOutput(output) => write!(f, "its command did not make the output {output:?}"),
            Self::NotRun(status) => write!(f, "{}", status.message()),
            Self::Unusable(why) => write!(f, "{why}"),
            Self::Storage(error) => error.fmt(f),
            Self::File { path, error } => write!(f, "{path}: {error}"),
        }
    }
}

impl std::error::Error for JobError {}

impl From<StorageError> for JobError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}
