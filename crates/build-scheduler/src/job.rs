//! The jobs to be built.

use std::hash::Hash;

/// A job of a build: it makes the artifact of its id out of its dependencies.
///
/// Two jobs of one id are the same job if they are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job<I, S> {
    /// Names the job and its artifact.
    pub id: I,
    /// The artifacts that it needs. A worker that has one of them is near to the job.
    pub dependencies: Vec<I>,
    /// Everything else that a worker must know.
    pub content: S,
}

impl<I, S> Job<I, S> {
    /// Makes a job without dependencies.
    pub fn new(id: I, content: S) -> Self {
        Self::with_dependencies(id, [], content)
    }

    /// Makes a job that depends on these artifacts.
    pub fn with_dependencies(id: I, dependencies: impl IntoIterator<Item = I>, content: S) -> Self {
        Self {
            id,
            dependencies: dependencies.into_iter().collect(),
            content,
        }
    }
}

/// A name for jobs and artifacts: a digest, a number, a string.
pub trait Id: Clone + Eq + Hash + Send + Sync + 'static {}

impl<T: Clone + Eq + Hash + Send + Sync + 'static> Id for T {}

/// The part of a job that only the worker reads.
pub trait Content: PartialEq + Send + Sync + 'static {}

impl<T: PartialEq + Send + Sync + 'static> Content for T {}

/// The result of a job.
pub trait Outcome: Send + Sync + 'static {}

impl<T: Send + Sync + 'static> Outcome for T {}
