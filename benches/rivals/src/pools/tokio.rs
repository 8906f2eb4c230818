//! tokio, with its unbounded channels.

use std::hint::black_box;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

use super::{Actors, BlockingPool, Pool, Spawner, Tasks, Threads, sum_of};

pub(crate) type Tokio = Runtime;

impl Threads for Runtime {
    fn with_workers(workers: usize) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(workers).build();
        runtime.expect("the system gives threads")
    }
}

impl Tasks for Runtime {
    fn spawn(&self, task: impl FnOnce() + Send + 'static) {
        drop(Self::spawn(self, async move { task() }));
    }
}

impl<M: Send + 'static> Actors<M> for Runtime {
    type Address = mpsc::UnboundedSender<M>;

    fn actor(&self, mut behaviour: impl FnMut(M) + Send + 'static) -> Self::Address {
        let (address, mut mailbox) = mpsc::unbounded_channel();
        drop(Runtime::spawn(self, async move {
            while let Some(message) = mailbox.recv().await {
                behaviour(message);
            }
        }));
        address
    }

    fn send(to: &Self::Address, message: M) -> bool {
        to.send(message).is_ok()
    }
}

impl Spawner for Runtime {
    fn spawn_all(&self, count: u64) -> u64 {
        let spawn = |number| Runtime::spawn(self, async move { black_box(number) });
        let tasks: Vec<_> = (1..=count).map(spawn).collect();
        let outputs = tasks.into_iter();
        self.block_on(sum_of(
            outputs.map(async |task| task.await.expect("it does not panic")),
        ))
    }
}

impl Pool for Runtime {
    const NAME: &'static str = "tokio, mpsc";

    fn yielder(&self, mut step: impl FnMut() -> bool + Send + 'static) {
        drop(Runtime::spawn(self, async move {
            while step() {
                tokio::task::yield_now().await;
            }
        }));
    }

    /// `block_on` polls on the caller's thread: what is spawned is the task.
    fn execute(&self) {
        let task = Runtime::spawn(self, async {});
        self.block_on(task).expect("it is done");
    }

    fn with_clock(workers: usize) -> Self {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(workers).enable_time().build();
        runtime.expect("the system gives threads")
    }

    fn run(&self, future: impl Future<Output = ()> + Send + 'static) {
        drop(Runtime::spawn(self, future));
    }

    fn sleep(length: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep(length)
    }
}

impl BlockingPool for Runtime {
    fn spawn_blocking(&self, call: impl FnOnce() + Send + 'static) {
        Tasks::spawn(self, || tokio::task::block_in_place(call));
    }
}
