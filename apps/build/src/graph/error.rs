//! Errors in the file of a graph.

use std::fmt;
use std::path::Path;

/// An error in the file of a graph, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphError {
    /// The file.
    pub file: Box<Path>,
    /// The line, from 1; 0 if the file could not be read.
    pub line: usize,
    /// The job, if the error is in one.
    pub job: Option<String>,
    /// The problem.
    pub problem: String,
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if let Some(job) = &self.job {
            write!(f, ": job {job:?}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for GraphError {}
