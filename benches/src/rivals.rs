//! The runtimes that the pools are compared with: equally many threads each, otherwise their
//! defaults.

use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use async_channel::{Receiver, RecvError};
use async_executor::{Executor, StaticExecutor};
use futures_lite::future::block_on;

/// Threads of every pool, ours and the rivals', unless a curve over their number is measured.
pub(crate) const WORKERS: usize = 2;

/// What a point of a curve asks for.
static ASKED_FOR: AtomicUsize = AtomicUsize::new(WORKERS);

/// Threads of every pool that is made from now on and is not told otherwise.
pub(crate) fn workers() -> usize {
    ASKED_FOR.load(Ordering::Relaxed)
}

/// For the scenarios of a point.
pub(crate) fn set_workers(workers: usize) {
    ASKED_FOR.store(workers, Ordering::Relaxed);
}

pub(crate) fn tokio_runtime() -> tokio::runtime::Runtime {
    tokio_runtime_of(workers())
}

pub(crate) fn tokio_runtime_of(workers: usize) -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .build()
        .expect("the system gives threads")
}

pub(crate) fn rayon_pool() -> rayon::ThreadPool {
    rayon_pool_of(workers())
}

pub(crate) fn rayon_pool_of(workers: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(workers)
        .build()
        .expect("the system gives threads")
}

/// Threads for an executor, which has none itself, until this is dropped.
pub(crate) struct ExecutorThreads {
    /// Nothing is sent: the threads end when it is closed.
    stop: async_channel::Sender<()>,
    threads: Vec<JoinHandle<()>>,
}

impl ExecutorThreads {
    pub(crate) fn start<E>(executor: &E) -> Self
    where
        E: Deref<Target = Executor<'static>> + Clone + Send + 'static,
    {
        Self::start_of(executor, workers())
    }

    pub(crate) fn start_of<E>(executor: &E, workers: usize) -> Self
    where
        E: Deref<Target = Executor<'static>> + Clone + Send + 'static,
    {
        let executor = executor.clone();
        Self::running(workers, move |stopped| {
            block_on(executor.run(stopped.recv()))
        })
    }

    pub(crate) fn start_static(executor: &'static StaticExecutor, workers: usize) -> Self {
        Self::running(workers, |stopped| block_on(executor.run(stopped.recv())))
    }

    /// Each thread runs an executor until nothing more can be received.
    fn running(
        workers: usize,
        run: impl Fn(&Receiver<()>) -> Result<(), RecvError> + Clone + Send + 'static,
    ) -> Self {
        let (stop, stopped) = async_channel::bounded(1);
        let thread = |_| {
            let (run, stopped) = (run.clone(), stopped.clone());
            thread::spawn(move || assert!(run(&stopped).is_err()))
        };
        Self {
            stop,
            threads: (0..workers).map(thread).collect(),
        }
    }
}

impl Drop for ExecutorThreads {
    fn drop(&mut self) {
        self.stop.close();
        for thread in self.threads.drain(..) {
            thread.join().expect("a contender panicked");
        }
    }
}
