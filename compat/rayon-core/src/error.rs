//! The reason why a pool was not built.

use std::error::Error;
use std::fmt;
use std::io;

use filch_fork_join::StartError;

/// The reason why [`build`](crate::ThreadPoolBuilder::build) or
/// [`build_global`](crate::ThreadPoolBuilder::build_global) built no pool.
#[derive(Debug)]
pub struct ThreadPoolBuildError(Reason);

#[derive(Debug)]
pub(crate) enum Reason {
    /// There is a global pool.
    GlobalPoolIsThere,
    /// The thread that should join the pool belongs to another one.
    ThreadIsInPool,
    /// The system, or the spawn handler, has refused a thread.
    Thread(io::Error),
}

impl From<Reason> for ThreadPoolBuildError {
    fn from(reason: Reason) -> Self {
        Self(reason)
    }
}

impl From<StartError> for ThreadPoolBuildError {
    fn from(error: StartError) -> Self {
        Self(Reason::Thread(match error {
            StartError::Thread(error) => error,
            other => io::Error::other(other),
        }))
    }
}

impl fmt::Display for ThreadPoolBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            // The words are rayon's: programs compare them.
            Reason::GlobalPoolIsThere => {
                f.write_str("The global thread pool has already been initialized.")
            }
            Reason::ThreadIsInPool => {
                f.write_str("The current thread is already part of another thread pool.")
            }
            Reason::Thread(error) => error.fmt(f),
        }
    }
}

impl Error for ThreadPoolBuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            Reason::GlobalPoolIsThere | Reason::ThreadIsInPool => None,
            Reason::Thread(error) => Some(error),
        }
    }
}
