//! Another number of processors, while tasks run.

use std::error::Error;
use std::fmt;

use crate::pool::processors::Processors;

/// The reason why a pool does not have as many processors as it was told to have.
#[derive(Debug)]
#[non_exhaustive]
pub enum ResizeError {
    /// A pool of no processors could never run anything.
    NoProcessors,
    /// More than [`Config::max_processors`](crate::Config::max_processors) said.
    TooManyProcessors {
        /// The number asked for.
        asked: usize,
        /// The largest number that is possible.
        max: usize,
    },
    /// The pool has not been started.
    NotRunning,
    /// The pool has been told to stop. If that came in the middle, some of the new processors may
    /// be there.
    Stopped,
    /// There may be no thread for one of the new processors: the
    /// [limit](crate::Config::thread_limit) is reached.
    Threads {
        /// The number of processors now.
        reached: usize,
    },
}

impl fmt::Display for ResizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProcessors => f.write_str("0 processors can run nothing: ask for at least 1"),
            Self::TooManyProcessors { asked, max } => write!(
                f,
                "{asked} processors are more than the {max} that the pool was made for: ask for \
                 fewer, or make it with a larger `max_processors`"
            ),
            Self::NotRunning => f.write_str("the pool has not been started"),
            Self::Stopped => f.write_str("the pool has been stopped"),
            Self::Threads { reached } => write!(
                f,
                "no more threads than `thread_limit` says: there are {reached} processors now"
            ),
        }
    }
}

impl Error for ResizeError {}

impl<T: Send + 'static> Processors<T> {
    /// Changes the number of processors, and returns the number that there were. From any thread,
    /// also from a task. One resize at a time: a second one waits for the first; blocking, but not
    /// for any task.
    ///
    /// New processors run when there is something for them to do, on spare threads or new ones. Of
    /// those that are too many, idle ones are given up at once, and running ones when their current
    /// task ends (or its next [`blocking`](Self::blocking) call begins): until then more tasks than
    /// `count` may run. What was left in their deques goes to the end of the global queue. Nothing
    /// runnable is lost, and nothing stops meanwhile.
    ///
    /// If it grows from one processor, a task that was scheduled just then by a running task may
    /// not wake a new processor before that one ends.
    ///
    /// # Errors
    /// See [`ResizeError`]. The number is unchanged, unless the limit of threads is reached: then
    /// it is as large as possible.
    pub fn resize(&self, count: usize) -> Result<usize, ResizeError> {
        let max = self.max_count();
        if count == 0 {
            return Err(ResizeError::NoProcessors);
        }
        if count > max {
            return Err(ResizeError::TooManyProcessors { asked: count, max });
        }
        let _one_at_a_time = self.lock_running(ResizeError::NotRunning, ResizeError::Stopped)?;
        let before = self.count();
        self.shared.queues.reach(count);
        for processor in before..count {
            if !self.shared.coordinator.grow(processor, &self.shared.queues) {
                return Err(match self.shared.coordinator.is_over() {
                    true => ResizeError::Stopped,
                    false => ResizeError::Threads { reached: processor },
                });
            }
        }
        if count < before {
            self.shared.coordinator.shrink(count, &self.shared.queues);
        }
        Ok(before)
    }
}
