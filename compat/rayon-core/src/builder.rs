//! The settings of a pool.

use std::any::Any;
use std::env;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use filch_fork_join::{Config, Pool, Worker};

use crate::error::{Reason, ThreadPoolBuildError};
use crate::handlers::Handlers;
use crate::threads::{CustomSpawn, DefaultSpawn, Private, ThreadBuilder, ThreadSpawn};

/// The settings of a [`ThreadPool`](crate::ThreadPool), or of the global pool.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build()?;
/// assert_eq!(pool.install(rayon_core::current_num_threads), 2);
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
pub struct ThreadPoolBuilder<S = DefaultSpawn> {
    num_threads: usize,
    use_current_thread: bool,
    thread_name: Option<ThreadName>,
    stack_size: Option<usize>,
    handlers: Handlers,
    breadth_first: bool,
    spawn: S,
}

/// Returns the most threads that a pool can have.
pub fn max_num_threads() -> usize {
    Pool::MAX_THREADS
}

type ThreadName = Box<dyn FnMut(usize) -> String>;

impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        Self {
            num_threads: 0,
            use_current_thread: false,
            thread_name: None,
            stack_size: None,
            handlers: Handlers::default(),
            breadth_first: false,
            spawn: DefaultSpawn,
        }
    }
}

impl ThreadPoolBuilder {
    /// Makes the settings of a pool with as many threads as the system has.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    /// Starts the pool, with the errors and panics of `build`.
    pub(crate) fn start(mut self) -> Result<Pool, ThreadPoolBuildError> {
        let threads = self.threads().min(max_num_threads());
        let mut config = Config::default().threads(threads);
        if self.use_current_thread {
            if Worker::current(|worker| worker.is_some()) {
                return Err(Reason::ThreadIsInPool.into());
            }
            config = config.with_caller();
        }
        let usual = || self.spawn.usual_stack_size(Private);
        if let Some(bytes) = self.stack_size.or_else(usual) {
            config = config.stack_size(bytes);
        }
        let config = self.handlers.install(config);
        let mut panic = None;
        let started = Pool::start_with(config, |thread| {
            let spawn = || {
                let name = self.thread_name.as_mut();
                let builder = ThreadBuilder {
                    name: name.map(|name| name(thread.index())),
                    stack_size: self.stack_size,
                    thread,
                };
                self.spawn.spawn(builder, Private)
            };
            catch_unwind(AssertUnwindSafe(spawn)).unwrap_or_else(|payload| {
                panic = Some(payload);
                Err(io::Error::other("the spawn handler panicked"))
            })
        });
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
        Ok(started?)
    }

    fn threads(&self) -> usize {
        let from_environment = |name| env::var(name).ok()?.parse().ok();
        let asked = Some(self.num_threads)
            .filter(|&threads| threads > 0)
            .or_else(|| from_environment("RAYON_NUM_THREADS"))
            // The former name.
            .or_else(|| from_environment("RAYON_RS_NUM_CPUS"));
        match asked {
            Some(threads @ 1..) => threads,
            _ => thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

impl<S> ThreadPoolBuilder<S> {
    /// Makes `spawn` create the threads, each of which must call [`ThreadBuilder::run`]. They exit
    /// when the pool has been dropped; waiting for that is the caller's business.
    ///
    /// ```
    /// let pool = rayon_core::ThreadPoolBuilder::new()
    ///     .num_threads(2)
    ///     .spawn_handler(|thread| {
    ///         std::thread::spawn(|| thread.run());
    ///         Ok(())
    ///     })
    ///     .build()?;
    /// assert_eq!(pool.install(|| 1 + 2), 3);
    /// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
    /// ```
    pub fn spawn_handler<F>(self, spawn: F) -> ThreadPoolBuilder<CustomSpawn<F>>
    where
        F: FnMut(ThreadBuilder) -> io::Result<()>,
    {
        ThreadPoolBuilder {
            num_threads: self.num_threads,
            use_current_thread: self.use_current_thread,
            thread_name: self.thread_name,
            stack_size: self.stack_size,
            handlers: self.handlers,
            breadth_first: self.breadth_first,
            spawn: CustomSpawn(spawn),
        }
    }

    /// Sets the name of the thread with an index. Without this, threads have no names.
    pub fn thread_name<F>(mut self, name: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        self.thread_name = Some(Box::new(name));
        self
    }

    /// Sets the number of threads, at most [`max_num_threads`](crate::max_num_threads). 0 is the
    /// default: the environment variable `RAYON_NUM_THREADS`, or as many as the system has.
    pub fn num_threads(mut self, threads: usize) -> Self {
        self.num_threads = threads;
        self
    }

    /// Makes the calling thread the pool's first, with the index 0. The spawn handler does not
    /// create it, and the handlers for start and exit are not called on it. It runs jobs while it
    /// waits for some, or [yields](crate::yield_now).
    pub fn use_current_thread(mut self) -> Self {
        self.use_current_thread = true;
        self
    }

    /// Gives `handler` the payload of a panic that nobody waits for: of a spawned job, or of the
    /// handlers for start and exit. Without it, or if it panics, the process is aborted.
    pub fn panic_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        self.handlers.panic = Some(Box::new(handler));
        self
    }

    /// Sets the stack size of the threads, in bytes.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Sets a hint, which is ignored: see [`spawn_fifo`](crate::spawn_fifo).
    #[deprecated(note = "use `scope_fifo` and `spawn_fifo`, which promise an order")]
    pub fn breadth_first(mut self) -> Self {
        self.breadth_first = true;
        self
    }

    /// Makes each thread call `handler` with its index before it runs jobs. Its panic goes to the
    /// [panic handler](Self::panic_handler), and the thread goes on.
    pub fn start_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.handlers.start = Some(Box::new(handler));
        self
    }

    /// Makes each thread call `handler` with its index after its last job. Its panic goes to the
    /// [panic handler](Self::panic_handler).
    pub fn exit_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.handlers.exit = Some(Box::new(handler));
        self
    }
}

impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPoolBuilder")
            .field("num_threads", &self.num_threads)
            .field("use_current_thread", &self.use_current_thread)
            .field("has_thread_name", &self.thread_name.is_some())
            .field("has_panic_handler", &self.handlers.panic.is_some())
            .field("stack_size", &self.stack_size)
            .field("has_start_handler", &self.handlers.start.is_some())
            .field("has_exit_handler", &self.handlers.exit.is_some())
            .field("breadth_first", &self.breadth_first)
            .finish_non_exhaustive()
    }
}
