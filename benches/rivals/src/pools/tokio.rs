//! tokio, with its unbounded channels.

use std::hint::black_box;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot};

use super::{Actors, BlockingPool, Pool, Spawner, TOTAL};

pub(crate) type Tokio = Runtime;

pub(crate) fn tokio_runtime(workers: usize) -> Runtime {
    let runtime = Builder::new_multi_thread().worker_threads(workers).build();
    runtime.expect("the system gives threads")
}

/// Makes a runtime with timers.
fn tokio_with_clock(workers: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(workers).enable_time().build();
    runtime.expect("the system gives threads")
}

impl<M: Send + 'static> Actors<M> for Runtime {
    type Address = mpsc::UnboundedSender<M>;

    fn new(workers: usize) -> Self {
        tokio_runtime(workers)
    }

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
    fn new(workers: usize) -> Self {
        tokio_runtime(workers)
    }

    fn spawn_all(&self, count: u64) -> u64 {
        let spawn = |number| Runtime::spawn(self, async move { black_box(number) });
        let tasks: Vec<_> = (1..=count).map(spawn).collect();
        self.block_on(async {
            let mut sum = 0;
            for task in tasks {
                sum += task.await.expect("it does not panic");
            }
            sum
        })
    }

    fn spawn_inside(&self, count: u64) {
        drop(Runtime::spawn(self, async move {
            for number in 1..=count {
                drop(tokio::spawn(async move { TOTAL.add(number) }));
            }
        }));
    }
}

impl Pool for Runtime {
    const NAME: &'static str = "tokio, mpsc";

    type Callee = mpsc::UnboundedSender<(u64, oneshot::Sender<u64>)>;

    fn spawn(&self, task: impl FnOnce() + Send + 'static) {
        drop(Runtime::spawn(self, async move { task() }));
    }

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

    fn callee(&self) -> Self::Callee {
        self.actor(|(number, caller): (u64, oneshot::Sender<u64>)| {
            // The caller waits.
            let _ = caller.send(number);
        })
    }

    fn call(&self, callee: &Self::Callee, number: u64) -> u64 {
        let (caller, answer) = oneshot::channel();
        callee.send((number, caller)).expect("it receives");
        answer.blocking_recv().expect("it answers")
    }

    fn with_clock(workers: usize) -> Self {
        tokio_with_clock(workers)
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
        Pool::spawn(self, || tokio::task::block_in_place(call));
    }
}
