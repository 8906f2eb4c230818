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
    pub problem: Problem,
}

/// A problem in the file of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The file cannot be read.
    Unreadable(String),
    /// It is not TOML, or does not have the keys of a graph.
    Syntax(String),
    /// An id is empty.
    NoId,
    /// Two jobs have the same id.
    DuplicateJob,
    /// The job has neither `command` nor `sh`, or an empty one.
    NoCommand,
    /// The job has both `command` and `sh`.
    TwoCommands,
    /// An argument or an environment variable has characters that it cannot have.
    BadText(String),
    /// There is no job with this id.
    MissingDependency(String),
    /// Jobs depend on each other in a circle: the ids along it, the first one again at the end.
    Cycle(Vec<String>),
    /// This is not a path in the project, for this reason.
    BadPath(String),
    /// No file of the project matches this input.
    MissingInput(String),
    /// The input is an output of a job, which must be among the dependencies.
    InputIsOutput {
        /// The input.
        input: String,
        /// The job that makes it.
        job: String,
    },
    /// Another job has this output, or an output inside it, or one that it is inside of.
    DuplicateOutput {
        /// The output.
        output: String,
        /// The other output.
        other: String,
        /// The other job.
        job: String,
    },
    /// The time limit is zero or not a number of seconds.
    BadTimeout,
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

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => write!(f, "cannot be read: {why}"),
            Self::Syntax(why) => write!(f, "{why}"),
            Self::NoId => write!(f, "the id is empty"),
            Self::DuplicateJob => write!(f, "there is another job of this id"),
            Self::NoCommand => write!(f, "there is no command"),
            Self::TwoCommands => write!(f, "there are both `command` and `sh`"),
            Self::BadText(why) => write!(f, "{why}"),
            Self::MissingDependency(id) => write!(f, "there is no job {id:?} to depend on"),
            Self::Cycle(ids) => {
                write!(
                    f,
                    "jobs depend on each other in a circle: {}",
                    ids.join(" -> ")
                )
            }
            Self::BadPath(why) => write!(f, "{why}"),
            Self::MissingInput(input) => write!(f, "no file matches the input {input:?}"),
            Self::InputIsOutput { input, job } => {
                write!(
                    f,
                    "the input {input:?} is made by the job {job:?}: name that in `deps`"
                )
            }
            Self::DuplicateOutput { output, other, job } if output == other => {
                write!(f, "the output {output:?} is one of the job {job:?}, too")
            }
            Self::DuplicateOutput { output, other, job } => {
                write!(
                    f,
                    "the output {output:?} and {other:?} of the job {job:?} overlap"
                )
            }
            Self::BadTimeout => write!(f, "`timeout` is not a number of seconds above 0"),
        }
    }
}
