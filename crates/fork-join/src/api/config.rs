//! The settings of a pool, and the errors of a start.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::io;
use std::thread::available_parallelism;

use filch_processors::Config as ProcessorsConfig;

use crate::job::MAX_SLOTS;

/// Told the index of a thread's worker.
pub(crate) type OnThread = Box<dyn Fn(usize) + Send + Sync>;

/// Told what a panic said.
pub(crate) type OnPanic = Box<dyn Fn(Box<dyn Any + Send>) + Send + Sync>;

/// The settings of a pool: its threads, and what they do.
#[doc(alias = "ThreadPoolBuilder")]
pub struct Config {
    threads: Option<usize>,
    blocking_threads: usize,
    /// The settings by which the threads are made.
    processors: ProcessorsConfig,
    pub(crate) stack_size: Option<usize>,
    /// `true` if a setting of threads was called.
    pub(crate) says_threads: bool,
    pub(crate) nested_jobs: Option<u32>,
    pub(crate) takes_caller: bool,
    pub(crate) on_start: Option<OnThread>,
    pub(crate) on_exit: Option<OnThread>,
    pub(crate) on_panic: Option<OnPanic>,
}

impl Default for Config {
    /// Returns as many threads as the system runs at a time; other defaults as the methods say.
    fn default() -> Self {
        Self {
            threads: None,
            blocking_threads: 0,
            processors: ProcessorsConfig::default()
                .thread_name("filch-fork-join")
                .guests(false),
            stack_size: None,
            says_threads: false,
            nested_jobs: None,
            takes_caller: false,
            on_start: None,
            on_exit: None,
            on_panic: None,
        }
    }
}

impl Config {
    /// Sets the number of threads that run jobs at a time. Default: the system's parallelism.
    #[must_use]
    #[doc(alias = "num_threads")]
    pub fn threads(mut self, count: usize) -> Self {
        self.threads = Some(count);
        self.saying_threads()
    }

    /// Sets the number of further threads for those that are in
    /// [`blocking`](crate::Worker::blocking) calls. Beyond it, such a call keeps its place from
    /// other jobs. Default: none.
    #[must_use]
    pub fn blocking_threads(mut self, count: usize) -> Self {
        self.blocking_threads = count;
        self.saying_threads()
    }

    /// Names the threads: this, a dash and a number. Default: `filch-fork-join`. It must not
    /// contain a NUL byte.
    #[must_use]
    pub fn thread_name(mut self, name: &'static str) -> Self {
        self.processors = self.processors.thread_name(name);
        self.saying_threads()
    }

    /// The size of the threads' stacks, in bytes. Default: what Rust's threads have. For
    /// [`Pool::start_with`](crate::Pool::start_with), whose caller makes the threads, it is what
    /// those have; default: not known.
    ///
    /// A thread that waits runs other jobs on top of its stack, also on top of each other. When 64
    /// KiB are left it begins no more of them: the program ends, as by a stack that overflows, and
    /// says which thread had how many. Where the size is not known, it does overflow.
    #[must_use]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.processors = self.processors.stack_size(bytes);
        self.stack_size = Some(bytes);
        self.saying_threads()
    }

    /// Limits the jobs on a thread's stack that are not known to be parts of one another. A thread
    /// that waits runs other jobs on top of its stack. The last one that the limit allows runs as
    /// in [`isolate`](crate::Worker::isolate): where it waits, the thread runs nothing but parts of
    /// it. So the stack is at most `count` times as deep as that of the sequential recursion.
    /// Default: as many as the [stack](Self::stack_size) holds. With 1, each wait leaves all jobs
    /// alone that are no part of the job that waits; 0 is the same. The lower the limit, the more
    /// threads sleep beside work.
    ///
    /// For programs whose jobs wait for nothing but what they have forked or spawned. If *every*
    /// thread has so many jobs on its stack, some waits never end: for a
    /// [broadcast](crate::Worker::broadcast), for what comes into the pool from another pool or
    /// from a thread of none, and by [`yield_now`](crate::Worker::yield_now) for something that is
    /// no part of the job.
    #[must_use]
    pub fn nested_jobs(mut self, count: u32) -> Self {
        self.nested_jobs = Some(count);
        self
    }

    /// Makes the thread that starts the pool one of its own, with index 0. It runs jobs while it
    /// waits in a `join`, a scope or a `yield_now`, and stays in this pool until it exits.
    #[must_use]
    #[doc(alias = "use_current_thread")]
    pub fn with_caller(mut self) -> Self {
        self.takes_caller = true;
        self.saying_threads()
    }

    /// Called on each new thread, with the index of its worker, before it runs a job. No start of a
    /// pool waits for that; [`resize`](crate::Pool::resize) does. A panic is told to
    /// [`on_panic`](Self::on_panic), and the thread goes on.
    #[must_use]
    #[doc(alias = "start_handler")]
    pub fn on_start(mut self, call: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.on_start = Some(Box::new(call));
        self.saying_threads()
    }

    /// Called on each thread that exits, with the index of its worker, after its last job. A panic
    /// is told to [`on_panic`](Self::on_panic).
    #[must_use]
    #[doc(alias = "exit_handler")]
    pub fn on_exit(mut self, call: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.on_exit = Some(Box::new(call));
        self.saying_threads()
    }

    /// Called with what a panic said that nobody waits for: of a job that was spawned outside of a
    /// scope, or of [`on_start`](Self::on_start) or [`on_exit`](Self::on_exit). A panic in there is
    /// contained. Default: what it said is dropped; the panic hook has shown it.
    #[must_use]
    #[doc(alias = "panic_handler")]
    pub fn on_panic(mut self, call: impl Fn(Box<dyn Any + Send>) + Send + Sync + 'static) -> Self {
        self.on_panic = Some(Box::new(call));
        self
    }

    fn saying_threads(mut self) -> Self {
        self.says_threads = true;
        self
    }

    /// Lets callers take the place of threads that sleep, if the pool makes these, nobody prepares
    /// them, and none takes their place while they block.
    pub(crate) fn allow_guests(&mut self) {
        let are_bare = self.on_start.is_none() && self.on_exit.is_none();
        self.processors = (self.processors).guests(are_bare && self.blocking_threads == 0);
    }

    /// Returns the settings of `count` processors, as the pool wants them.
    pub(crate) fn processors(&self, count: usize) -> ProcessorsConfig {
        let limit = count.saturating_add(self.blocking_threads);
        self.processors.processors(count).thread_limit(limit)
    }

    /// The number of threads, the caller among them if it is one.
    pub(crate) fn thread_count(&self) -> Result<usize, StartError> {
        let parallelism = || available_parallelism().map_or(1, usize::from);
        match self.threads.unwrap_or_else(parallelism) {
            0 => Err(StartError::NoThreads),
            asked if asked > MAX_SLOTS => Err(StartError::TooManyThreads {
                asked,
                max: MAX_SLOTS,
            }),
            count => Ok(count),
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("threads", &self.threads)
            .field("blocking_threads", &self.blocking_threads)
            .field("processors", &self.processors)
            .field("nested_jobs", &self.nested_jobs)
            .field("with_caller", &self.takes_caller)
            .finish_non_exhaustive()
    }
}

/// The reason why a pool could not be started.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// A pool of no threads could never run anything.
    NoThreads,
    /// More threads than a pool can have.
    TooManyThreads {
        /// The number asked for.
        asked: usize,
        /// The largest number that is possible.
        max: usize,
    },
    /// The calling thread was to be [one of the pool's](Config::with_caller), and is one of another
    /// pool's.
    CallerIsTaken,
    /// The threads [were to be a scheduler's](crate::Pool::on), and run the work of something else
    /// beside their own already; or there is a pool on them, which is [not asked
    /// again](crate::Pool::start_on) what it is to be like.
    Taken,
    /// The threads [were to be a scheduler's](crate::Pool::start_on), which has made them already;
    /// and the [`Config`] says how many there are to be, or how they begin, end, or are made.
    ThreadsAreMade,
    /// A thread could not be had. Those that had been started exit.
    Thread(io::Error),
}

impl From<filch_processors::PoolError> for StartError {
    fn from(error: filch_processors::PoolError) -> Self {
        use filch_processors::PoolError as Cause;
        match error {
            Cause::NoProcessors => Self::NoThreads,
            Cause::TooManyProcessors { asked, max } => Self::TooManyThreads { asked, max },
            Cause::Thread(error) => Self::Thread(error),
            other => Self::Thread(io::Error::other(other)),
        }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoThreads => f.write_str("0 threads can run nothing: ask for at least 1"),
            Self::TooManyThreads { asked, max } => write!(
                f,
                "{asked} threads are more than the {max} that are possible: ask for fewer"
            ),
            Self::CallerIsTaken => f.write_str(
                "the calling thread is a thread of another pool, and can be one of one pool only",
            ),
            Self::Taken => f.write_str(
                "the scheduler's threads run the work of something else already, beside their own",
            ),
            Self::ThreadsAreMade => f.write_str(
                "the threads are the scheduler's, which made them: say nothing of threads",
            ),
            Self::Thread(error) => write!(f, "a thread could not be had: {error}"),
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
