use std::error::Error;
use std::fmt;
use std::io;
use std::thread::available_parallelism;
use std::time::Duration;

use crate::idle::Idle;

/// How many processors, and how many threads for them.
#[derive(Debug, Clone, Copy)]
pub struct Config {
    processors: Option<usize>,
    max_processors: Option<usize>,
    thread_limit: Option<usize>,
    pub(crate) spare_threads: usize,
    pub(crate) thread_name: &'static str,
    pub(crate) stack_size: Option<usize>,
    pub(crate) nap: Duration,
}

impl Default for Config {
    /// As many processors as the system has; other defaults as the methods say.
    fn default() -> Self {
        Self {
            processors: None,
            max_processors: None,
            thread_limit: None,
            spare_threads: 128,
            thread_name: "filch",
            stack_size: None,
            nap: Duration::from_micros(50),
        }
    }
}

impl Config {
    /// The number of processors to begin with. Default: the parallelism that the system reports.
    #[must_use]
    pub fn processors(mut self, count: usize) -> Self {
        self.processors = Some(count);
        self
    }

    /// The largest number that [`Processors::resize`](crate::Processors::resize) may be asked for.
    /// Each costs about a kibibyte from the beginning, and a look by each thief once it has been
    /// used. Default: four times the parallelism that the system reports, or the number to begin
    /// with, if that is more.
    #[must_use]
    pub fn max_processors(mut self, count: usize) -> Self {
        self.max_processors = Some(count);
        self
    }

    /// How many threads there may be, for processors and for blocking calls together. Beyond it a
    /// blocking call keeps its processor. Threads that have been told to leave, since
    /// [enough](Self::spare_threads) stand by, come on top until they have exited, though one per
    /// processor at most. [Reserved](crate::Processors::reserve_thread) threads are not counted:
    /// they take none from blocking calls. Default: 512, and one per processor that there can be:
    /// with that many the system's own limits (of tasks in a container, say) are seldom met, and
    /// more calls than that are better queued.
    #[must_use]
    pub fn thread_limit(mut self, threads: usize) -> Self {
        self.thread_limit = Some(threads);
        self
    }

    /// How many threads without a processor are kept for later blocking calls; others leave.
    /// Default: 128. One costs what it has touched of its stack, some 16 KiB, and no processor
    /// time.
    #[must_use]
    pub fn spare_threads(mut self, threads: usize) -> Self {
        self.spare_threads = threads;
        self
    }

    /// The threads are called this, a dash and a number. Default: `filch`. It must not contain a
    /// NUL byte.
    #[must_use]
    pub fn thread_name(mut self, name: &'static str) -> Self {
        self.thread_name = name;
        self
    }

    /// The size of the threads' stacks, in bytes. Default: what Rust's threads have.
    #[must_use]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// How long the only task of a busy processor may wait for it before another one takes it,
    /// where that processor came for one task after the other as quickly as a thief could have.
    /// Longer: less disturbance where one task makes the next runnable, a shorter wait where such a
    /// task at last takes long. The system's timers may add to it: Linux does, some 50 µs. Zero: it
    /// waits a few microseconds only. More than a second is a second: a task is not forgotten.
    /// Default: 50 µs.
    #[must_use]
    pub fn nap(mut self, nap: Duration) -> Self {
        self.nap = nap.min(LONGEST_NAP);
        self
    }

    /// The numbers, checked: processors to begin with, at most, and threads.
    pub(crate) fn resolve(&self) -> Result<(usize, usize, usize), StartError> {
        let parallelism = available_parallelism().map_or(1, usize::from);
        let most = self.max_processors.unwrap_or(Idle::MOST);
        if most == 0 {
            return Err(StartError::NoProcessors);
        }
        if let Some(asked) = self.max_processors
            && asked > Idle::MOST
        {
            return Err(StartError::TooManyProcessors {
                asked,
                most: Idle::MOST,
            });
        }
        let processors = match self.processors {
            None => parallelism.min(most),
            Some(0) => return Err(StartError::NoProcessors),
            Some(asked) if asked > most => {
                return Err(StartError::TooManyProcessors { asked, most });
            }
            Some(asked) => asked,
        };
        let places = self
            .max_processors
            .unwrap_or_else(|| (4 * parallelism).max(processors).min(Idle::MOST));
        let threads = self.thread_limit.unwrap_or(512 + places);
        if threads < processors {
            return Err(StartError::TooFewThreads {
                limit: threads,
                processors,
            });
        }
        // Beyond what a machine's number can be no limit is ever met.
        Ok((processors, places, threads.min(MOST_THREADS)))
    }
}

/// Also one that every clock can show the end of.
const LONGEST_NAP: Duration = Duration::from_secs(1);

/// Machines that a pool has places for at most: a million, at some 40 bytes each.
const MOST_THREADS: usize = 1 << 20;

/// Why a pool could not be started.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// A pool of no processors could never run anything.
    NoProcessors,
    /// More processors than the idle list can name, or than [`Config::max_processors`] says.
    TooManyProcessors {
        /// What was asked for.
        asked: usize,
        /// What is possible.
        most: usize,
    },
    /// Not even a thread for each processor.
    TooFewThreads {
        /// What [`Config::thread_limit`] says.
        limit: usize,
        /// The processors to begin with.
        processors: usize,
    },
    /// The pool runs already.
    AlreadyStarted,
    /// The pool has been stopped.
    Stopped,
    /// The system refused a thread.
    Thread(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProcessors => f.write_str("0 workers can run nothing: ask for at least 1"),
            Self::TooManyProcessors { asked, most } => {
                write!(
                    f,
                    "{asked} workers are more than the {most} that are possible: ask for fewer"
                )
            }
            Self::TooFewThreads { limit, processors } => {
                write!(
                    f,
                    "{limit} threads are not enough for {processors} workers: raise the limit"
                )
            }
            Self::AlreadyStarted => f.write_str("the workers have been started already"),
            Self::Stopped => f.write_str("the workers have been stopped"),
            Self::Thread(error) => {
                write!(
                    f,
                    "the system refused a thread ({error}): ask for fewer workers, or raise its limit"
                )
            }
        }
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Thread(error) => Some(error),
            _ => None,
        }
    }
}
