//! async-executor, with async-channel; and its faster form, which cannot be dropped.

use std::hint::black_box;
use std::ops::Deref;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_channel::{Receiver, RecvError, Sender};
use async_executor::{Executor, StaticExecutor, Task};
use async_io::Timer;
use futures_lite::future::{block_on, yield_now};

use super::{Actors, Pool, Spawner, TOTAL};

/// Threads for an executor, which has none itself, until this is dropped.
pub(crate) struct ExecutorThreads {
    /// A channel on which nothing is sent: the threads end when it is closed.
    stop: Sender<()>,
    threads: Vec<JoinHandle<()>>,
}

impl ExecutorThreads {
    pub(crate) fn start<E>(executor: &E, workers: usize) -> Self
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

pub(crate) struct Async {
    // Dropped after its threads, with the tasks that are left.
    _threads: ExecutorThreads,
    pub(crate) executor: Arc<Executor<'static>>,
}

impl Async {
    fn start(workers: usize) -> Self {
        let executor = Arc::new(Executor::new());
        Self {
            _threads: ExecutorThreads::start(&executor, workers),
            executor,
        }
    }
}

impl<M: Send + 'static> Actors<M> for Async {
    type Address = Sender<M>;

    fn new(workers: usize) -> Self {
        Self::start(workers)
    }

    fn actor(&self, mut behaviour: impl FnMut(M) + Send + 'static) -> Self::Address {
        let (address, mailbox) = async_channel::unbounded();
        self.run(async move {
            while let Ok(message) = mailbox.recv().await {
                behaviour(message);
            }
        });
        address
    }

    fn send(to: &Self::Address, message: M) -> bool {
        to.try_send(message).is_ok()
    }
}

/// The sum of what that many tasks return, which are all spawned before one is waited for.
fn sum_of(count: u64, spawn: impl Fn(u64) -> Task<u64>) -> u64 {
    let tasks: Vec<_> = (1..=count).map(spawn).collect();
    block_on(async {
        let mut sum = 0;
        for task in tasks {
            sum += task.await;
        }
        sum
    })
}

impl Spawner for Async {
    fn new(workers: usize) -> Self {
        Self::start(workers)
    }

    fn spawn_all(&self, count: u64) -> u64 {
        sum_of(count, |number| {
            self.executor.spawn(async move { black_box(number) })
        })
    }

    fn spawn_inside(&self, count: u64) {
        let executor = Arc::clone(&self.executor);
        self.run(async move {
            for number in 1..=count {
                executor.spawn(async move { TOTAL.add(number) }).detach();
            }
        });
    }
}

pub(crate) struct AsyncStatic {
    _threads: ExecutorThreads,
}

static EXECUTOR: StaticExecutor = StaticExecutor::new();

impl Spawner for AsyncStatic {
    fn new(workers: usize) -> Self {
        Self {
            _threads: ExecutorThreads::start_static(&EXECUTOR, workers),
        }
    }

    fn spawn_all(&self, count: u64) -> u64 {
        sum_of(count, |number| {
            EXECUTOR.spawn(async move { black_box(number) })
        })
    }

    fn spawn_inside(&self, count: u64) {
        let root = async move {
            for number in 1..=count {
                EXECUTOR.spawn(async move { TOTAL.add(number) }).detach();
            }
        };
        EXECUTOR.spawn(root).detach();
    }
}

impl Pool for Async {
    const NAME: &'static str = "async-executor, async-channel";

    type Callee = Sender<(u64, Sender<u64>)>;

    fn spawn(&self, task: impl FnOnce() + Send + 'static) {
        self.run(async move { task() });
    }

    fn yielder(&self, mut step: impl FnMut() -> bool + Send + 'static) {
        self.run(async move {
            while step() {
                yield_now().await;
            }
        });
    }

    fn execute(&self) {
        block_on(self.executor.spawn(async {}));
    }

    fn callee(&self) -> Self::Callee {
        self.actor(|(number, caller): (u64, Sender<u64>)| {
            // The caller waits, and there is room for one.
            let _ = caller.try_send(number);
        })
    }

    fn call(&self, callee: &Self::Callee, number: u64) -> u64 {
        let (caller, answer) = async_channel::bounded(1);
        callee.try_send((number, caller)).expect("it receives");
        answer.recv_blocking().expect("it answers")
    }

    fn run(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.executor.spawn(future).detach();
    }

    async fn sleep(length: Duration) {
        Timer::after(length).await;
    }
}
