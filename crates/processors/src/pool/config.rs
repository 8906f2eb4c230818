//! The numbers of processors and threads of a pool, and which are refused.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::OnceLock;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use filch_sync::time;

use crate::protocol::Idle;

/// The settings of a pool: its processors, and the threads for them.
#[derive(Debug, Clone, Copy)]
pub struct Config {
    processors: Option<usize>,
    max_processors: Option<usize>,
    thread_limit: Option<usize>,
    pub(crate) spare_threads: usize,
    pub(crate) thread_name: &'static str,
    pub(crate) stack_size: Option<usize>,
    pub(crate) guests: bool,
    pub(crate) watch_interval: Duration,
    pub(crate) clock: fn() -> Instant,
}

impl Default for Config {
    /// Returns as many processors as the system has; other defaults as the methods say.
    fn default() -> Self {
        Self {
            processors: None,
            max_processors: None,
            thread_limit: None,
            spare_threads: 128,
            thread_name: "filch",
            stack_size: None,
            guests: true,
            watch_interval: Duration::from_micros(50),
            clock: time::now,
        }
    }
}

impl Config {
    /// The number of processors to begin with. Default: the parallelism that the system reports.
    #[must_use]
    #[doc(alias = "GOMAXPROCS")]
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

    /// The largest number of threads, for processors and for blocking calls together. Beyond it a
    /// blocking call keeps its processor, and what is runnable waits until it returns. Threads that
    /// have been told to exit come on top until they have, though one per processor at most; so do
    /// [reserved](crate::Processors::reserve_thread) ones. Default: 512, and one per processor that
    /// there can be: with that many the system's own limits are seldom met, and more calls than
    /// that are better queued.
    #[must_use]
    #[doc(alias = "SetMaxThreads")]
    pub fn thread_limit(mut self, threads: usize) -> Self {
        self.thread_limit = Some(threads);
        self
    }

    /// Sets how many threads without a processor are kept for later blocking calls; others exit.
    /// Default: 128. One costs what it has touched of its stack, some 16 KiB, and no processor
    /// time.
    #[must_use]
    pub fn spare_threads(mut self, threads: usize) -> Self {
        self.spare_threads = threads;
        self
    }

    /// Names the threads: this, a dash and a number. Default: `filch`. It must not contain a NUL
    /// byte.
    #[must_use]
    pub fn thread_name(mut self, name: &'static str) -> Self {
        self.thread_name = name;
        self
    }

    /// The size of the threads' stacks, in bytes. Default: what Rust's threads have. With another
    /// size there are no [guests](Self::guests), whose stacks might be smaller.
    #[must_use]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Sets whether a thread from outside that waits for a task may run it itself, on a processor
    /// that is idle: see [`Processors::run_awaited`](crate::Processors::run_awaited). Without that
    /// each such task waits for a thread of the pool to wake up. Default: it may.
    #[must_use]
    pub fn guests(mut self, may_run: bool) -> Self {
        self.guests = may_run;
        self
    }

    /// Sets how long a thread sleeps between two looks at a processor that it watches: so long the
    /// only task of a busy processor may wait for it, if it has come for one task after the other
    /// as quickly as a thief could have.
    ///
    /// A longer interval disturbs less where one task makes the next runnable; a shorter one
    /// shortens the wait where such a task at last takes long. The system's timers may add to it.
    /// Zero: no processor is watched. More than a second is a second. Default: 50 µs.
    #[must_use]
    #[doc(alias = "sysmon")]
    pub fn watch_interval(mut self, interval: Duration) -> Self {
        self.watch_interval = interval.min(MAX_WATCH_INTERVAL);
        self
    }

    /// Sets the clock by which processors know that it is another task's turn: for tests, which
    /// then control it. Watch intervals and dumps use the system's time. If it goes back, that
    /// counts as standing still. It is called between two tasks, on any of the pool's threads, and
    /// must not panic. Default: [`Instant::now`].
    #[must_use]
    pub fn clock(mut self, now: fn() -> Instant) -> Self {
        self.clock = now;
        self
    }

    /// The numbers, checked: processors to begin with, at most, and threads.
    pub(crate) fn resolve(&self) -> Result<(usize, usize, usize), PoolError> {
        let parallelism = parallelism();
        let possible = Idle::MAX_PROCESSORS;
        let max = self.max_processors.unwrap_or(possible);
        let processors = self.processors.unwrap_or_else(|| parallelism.min(max));
        for (asked, max) in [(max, possible), (processors, max)] {
            match asked {
                0 => return Err(PoolError::NoProcessors),
                _ if asked > max => return Err(PoolError::TooManyProcessors { asked, max }),
                _ => {}
            }
        }
        let places = self
            .max_processors
            .unwrap_or_else(|| (4 * parallelism).max(processors).min(possible));
        let threads = self.thread_limit.unwrap_or(512 + places);
        if threads < processors {
            return Err(PoolError::TooFewThreads {
                limit: threads,
                processors,
            });
        }
        // A machine's number cannot be larger, so a larger limit would never be met.
        Ok((processors, places, threads.min(MAX_THREADS)))
    }
}

/// The parallelism that the system reports. Asked once: it reads files of the control group.
fn parallelism() -> usize {
    static PARALLELISM: OnceLock<usize> = OnceLock::new();
    *PARALLELISM.get_or_init(|| available_parallelism().map_or(1, usize::from))
}

/// An interval that every clock can show the end of.
const MAX_WATCH_INTERVAL: Duration = Duration::from_secs(1);

/// The largest number of machines that a pool has places for: a million, at some 40 bytes each.
const MAX_THREADS: usize = 1 << 20;

/// The reason why a pool could not be started, resized, or given a thread or a source.
#[derive(Debug)]
#[non_exhaustive]
pub enum PoolError {
    /// A pool of no processors could never run anything.
    NoProcessors,
    /// More processors than the idle list can name, or than [`Config::max_processors`] says.
    TooManyProcessors {
        /// The number asked for.
        asked: usize,
        /// The largest number that is possible.
        max: usize,
    },
    /// Fewer threads than processors.
    TooFewThreads {
        /// The limit that [`Config::thread_limit`] set.
        limit: usize,
        /// The processors to begin with.
        processors: usize,
    },
    /// There may be no thread for one of the new processors: that limit is reached.
    Threads {
        /// The number of processors now.
        reached: usize,
    },
    /// No more threads can be reserved. (Or a moment ago: threads that were released may not have
    /// exited yet.)
    Reserved {
        /// The largest number of reserved threads.
        limit: usize,
    },
    /// The pool has not been started.
    NotRunning,
    /// The pool has been started already.
    AlreadyStarted,
    /// The pool has been told to stop. If that came in the middle of a resize, some of the new
    /// processors may be there.
    Stopped,
    /// The pool has a [source](crate::Source) already, and can have one only.
    HasSource,
    /// The system refused a thread.
    Thread(io::Error),
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProcessors => f.write_str("0 processors can run nothing: ask for at least 1"),
            Self::TooManyProcessors { asked, max } => write!(
                f,
                "{asked} processors are more than the {max} that the pool may have: ask for \
                 fewer, or make it with a larger `max_processors`"
            ),
            Self::TooFewThreads { limit, processors } => write!(
                f,
                "{limit} threads are not enough for {processors} processors: raise the limit"
            ),
            Self::Threads { reached } => write!(
                f,
                "no more threads than `thread_limit` says: there are {reached} processors now"
            ),
            Self::Reserved { limit } => write!(
                f,
                "{limit} threads are reserved, which is the most that may be: release one"
            ),
            Self::NotRunning => f.write_str("the pool has not been started"),
            Self::AlreadyStarted => f.write_str("the pool has been started already"),
            Self::Stopped => f.write_str("the pool has been stopped"),
            Self::HasSource => f.write_str("the pool has a source of further work already"),
            Self::Thread(error) => write!(
                f,
                "the system refused a thread ({error}): raise its limit of threads"
            ),
        }
    }
}

impl Error for PoolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Thread(error) => Some(error),
            _ => None,
        }
    }
}
