//! async-executor, with async-channel; and its faster form, which cannot be dropped.

use std::hint::black_box;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_channel::{Receiver, Sender};
use async_executor::{Executor, StaticExecutor, Task};
use async_io::Timer;
use futures_lite::future::{block_on, yield_now};

use super::{Actors, Pool, Spawner, Tasks, Threads, sum_of};

/// An executor in reach of its tasks.
pub(crate) trait Handle: Clone + Send + Sync + 'static {
    fn make() -> Self;
    fn launch<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Task<T>;
    /// Runs its tasks until nothing more can be received.
    fn serve(&self, stopped: &Receiver<()>);
}

macro_rules! handle {
    ($handle:ty, $new:expr) => {
        impl Handle for $handle {
            fn make() -> Self {
                $new
            }

            fn launch<T: Send + 'static>(
                &self,
                future: impl Future<Output = T> + Send + 'static,
            ) -> Task<T> {
                (**self).spawn(future)
            }

            fn serve(&self, stopped: &Receiver<()>) {
                assert!(block_on((**self).run(stopped.recv())).is_err());
            }
        }
    };
}

handle!(Arc<Executor<'static>>, Arc::default());
handle!(&'static Executor<'static>, Box::leak(Box::default()));
handle!(&'static StaticExecutor, Executor::new().leak());

/// An executor with threads, which it has not itself, until this is dropped.
pub(crate) struct Executing<H> {
    pub(crate) executor: H,
    /// A channel on which nothing is sent: the threads end when it is closed.
    stop: Sender<()>,
    threads: Vec<JoinHandle<()>>,
}

pub(crate) type Async = Executing<Arc<Executor<'static>>>;
/// It stays, so that tasks spawn others without a count of references.
pub(crate) type AsyncLeaked = Executing<&'static Executor<'static>>;
pub(crate) type AsyncStatic = Executing<&'static StaticExecutor>;

impl<H: Handle> Threads for Executing<H> {
    fn with_workers(workers: usize) -> Self {
        let executor = H::make();
        let (stop, stopped) = async_channel::bounded(1);
        let thread = |_| {
            let (executor, stopped) = (executor.clone(), stopped.clone());
            thread::spawn(move || executor.serve(&stopped))
        };
        Self {
            threads: (0..workers).map(thread).collect(),
            stop,
            executor,
        }
    }
}

impl<H> Drop for Executing<H> {
    /// The tasks that are left are dropped after the threads.
    fn drop(&mut self) {
        self.stop.close();
        for thread in self.threads.drain(..) {
            thread.join().expect("a contender panicked");
        }
    }
}

impl<H: Handle> Tasks for Executing<H> {
    fn spawn(&self, task: impl FnOnce() + Send + 'static) {
        self.executor.launch(async move { task() }).detach();
    }
}

impl<H: Handle, M: Send + 'static> Actors<M> for Executing<H> {
    type Address = Sender<M>;

    fn actor(&self, mut behaviour: impl FnMut(M) + Send + 'static) -> Self::Address {
        let (address, mailbox) = async_channel::unbounded();
        let task = self.executor.launch(async move {
            while let Ok(message) = mailbox.recv().await {
                behaviour(message);
            }
        });
        task.detach();
        address
    }

    fn send(to: &Self::Address, message: M) -> bool {
        to.try_send(message).is_ok()
    }
}

impl<H: Handle> Spawner for Executing<H> {
    fn spawn_all(&self, count: u64) -> u64 {
        let spawn = |number| self.executor.launch(async move { black_box(number) });
        let tasks: Vec<_> = (1..=count).map(spawn).collect();
        block_on(sum_of(tasks))
    }
}

impl Pool for Async {
    const NAME: &'static str = "async-executor, async-channel";

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

    fn run(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.executor.spawn(future).detach();
    }

    async fn sleep(length: Duration) {
        Timer::after(length).await;
    }
}
