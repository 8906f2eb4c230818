//! The threads of a pool: what each does besides running jobs.

use std::convert::Infallible;
use std::fmt;

use filch_processors::{Config as ProcessorsConfig, Runner};
use filch_sync::Arc;

use crate::api::config::{Config, OnThread};
use crate::current;
use crate::shared::{Host, Shared};
use crate::worker::Worker;

/// Processors with jobs, and without tasks.
pub(crate) struct Threads {
    shared: Arc<Shared<Worker>>,
    /// For those that sit down when the pool has been dropped.
    _host: Arc<dyn Host>,
    on_start: Option<OnThread>,
    on_exit: Option<Arc<OnThread>>,
}

impl Threads {
    pub(crate) fn new(shared: Arc<Shared<Worker>>, host: Arc<dyn Host>, config: Config) -> Self {
        Self {
            shared,
            _host: host,
            on_start: config.on_start,
            on_exit: config.on_exit.map(Arc::new),
        }
    }

    /// As many processors, as the pool wants them.
    pub(crate) fn processors(config: &Config, count: usize) -> ProcessorsConfig {
        let processors = ProcessorsConfig::default()
            .processors(count)
            .thread_limit(count.saturating_add(config.blocking_threads))
            .thread_name(config.thread_name.unwrap_or("filch-fork-join"));
        match config.stack_size {
            None => processors,
            Some(bytes) => processors.stack_size(bytes),
        }
    }
}

/// The thread has its seat, and gives it up in the end.
pub(crate) struct SeatGuard {
    on_exit: Option<Arc<OnThread>>,
}

impl Drop for SeatGuard {
    fn drop(&mut self) {
        current::leave(|index| {
            if let Some(on_exit) = &self.on_exit {
                on_exit(index);
            }
        });
    }
}

impl Runner<Infallible> for Threads {
    type Scratch = SeatGuard;

    fn scratch(&self, _machine: usize) -> SeatGuard {
        let Some(index) = current::with_worker(&self.shared, Worker::index) else {
            panic!("the thread is one of another pool's, or there are too many");
        };
        if let Some(on_start) = &self.on_start {
            on_start(index);
        }
        SeatGuard {
            on_exit: self.on_exit.clone(),
        }
    }

    fn run(&self, task: Infallible, _: &mut SeatGuard) {
        match task {}
    }
}

/// A thread of a pool, which its maker has to run: see
/// [`Pool::start_with`](crate::Pool::start_with).
#[must_use = "a thread that does not run is missing"]
pub struct Thread {
    thread: filch_processors::Thread,
    index: usize,
}

impl Thread {
    /// The first of these has the index `first`.
    pub(crate) fn new(thread: filch_processors::Thread, first: usize) -> Self {
        let index = first + thread.number();
        Self { thread, index }
    }

    /// What the [index](Worker::index) of its worker will be.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Runs jobs on the calling thread, until the pool has been dropped and nothing is left.
    pub fn run(self) {
        self.thread.run();
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread")
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}
