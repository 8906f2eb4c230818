//! The contenders, behind the scenarios' traits.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_executor::{Executor, StaticExecutor, Task};
use filch_actors::prelude::*;
use filch_scheduler::{
    Context, Event, Events, Handle, InitError, Pid, Process, ProcessHandle, Protocol, Scheduler,
    StepOutput,
};
use futures_lite::future::block_on;
use tokio::sync::mpsc;

use super::{Actors, Spawner};
use crate::rivals::{ExecutorThreads, rayon_pool, tokio_runtime, workers};

/// Numbers, nothing but numbers.
pub(super) enum Numbers {}

impl Protocol for Numbers {
    type Input = u64;
    type Message = u64;
    type Command = ();
    type Reply = ();
    type Output = u64;
    type Error = String;
}

pub(super) type Filch = Scheduler<Numbers>;

fn filch() -> Filch {
    let scheduler = Scheduler::builder().workers(workers()).build();
    scheduler.expect("the system gives threads")
}

/// A process whose step is a closure.
struct Steps<F>(F);

impl<F> Process<Numbers> for Steps<F>
where
    F: FnMut(Events<'_, Numbers>, &mut StepOutput<Numbers>) + Send,
{
    fn init(
        &mut self,
        _context: &Context<'_, Numbers>,
        _method: &str,
        _input: u64,
    ) -> Result<(), InitError<Numbers>> {
        Ok(())
    }

    fn step(
        &mut self,
        _context: &Context<'_, Numbers>,
        events: Events<'_, Numbers>,
        out: &mut StepOutput<Numbers>,
    ) -> Result<(), String> {
        (self.0)(events, out);
        Ok(())
    }
}

/// Submits a process whose step is that closure.
pub(super) fn start(
    scheduler: &Handle<Numbers>,
    step: impl FnMut(Events<'_, Numbers>, &mut StepOutput<Numbers>) + Send + 'static,
) -> ProcessHandle<Numbers> {
    let submitted = scheduler.submit(Steps(step), "run", 0);
    submitted.unwrap_or_else(|error| panic!("{error}"))
}

impl Spawner for Filch {
    fn new() -> Self {
        filch()
    }

    fn spawn_all(&self, count: u64) -> u64 {
        let start = |number| start(self, move |_, out| out.done(number));
        let processes: Vec<_> = (1..=count).map(start).collect();
        let outputs = processes.into_iter().map(|process| {
            let joined = process.join();
            joined.unwrap_or_else(|error| panic!("{error}"))
        });
        outputs.sum()
    }
}

/// The same scheduler, with futures as its processes.
pub(super) struct FilchFutures(pub(super) Filch);

impl Spawner for FilchFutures {
    fn new() -> Self {
        Self(filch())
    }

    fn spawn_all(&self, count: u64) -> u64 {
        let spawn = |number| self.0.spawn(async move { black_box(number) });
        let futures: Vec<_> = (1..=count).map(spawn).collect();
        block_on(async {
            let mut sum = 0;
            for future in futures {
                sum += future
                    .expect("it is admitted")
                    .await
                    .expect("it does not panic");
            }
            sum
        })
    }
}

impl Actors for Filch {
    type Address = (Handle<Numbers>, Pid);

    fn new() -> Self {
        filch()
    }

    /// Until it is cancelled.
    fn actor(&self, mut behaviour: impl FnMut(u64) + Send + 'static) -> Self::Address {
        let process = start(self, move |events, out| {
            for event in events {
                match event {
                    Event::Message(message) => behaviour(message),
                    Event::Cancel(_) => out.done(0),
                    _ => unreachable!("it yields no commands and monitors no process"),
                }
            }
        });
        (self.handle(), process.pid())
    }

    fn send((scheduler, to): &Self::Address, message: u64) {
        let sent = scheduler.send(*to, message);
        sent.expect("the actor lives");
    }
}

pub(super) type Tokio = tokio::runtime::Runtime;

impl Spawner for Tokio {
    fn new() -> Self {
        tokio_runtime()
    }

    fn spawn_all(&self, count: u64) -> u64 {
        let spawn = |number| self.spawn(async move { black_box(number) });
        let tasks: Vec<_> = (1..=count).map(spawn).collect();
        self.block_on(async {
            let mut sum = 0;
            for task in tasks {
                sum += task.await.expect("it does not panic");
            }
            sum
        })
    }
}

impl Actors for Tokio {
    type Address = mpsc::UnboundedSender<u64>;

    fn new() -> Self {
        tokio_runtime()
    }

    fn actor(&self, mut behaviour: impl FnMut(u64) + Send + 'static) -> Self::Address {
        let (address, mut mailbox) = mpsc::unbounded_channel();
        drop(self.spawn(async move {
            while let Some(message) = mailbox.recv().await {
                behaviour(message);
            }
        }));
        address
    }

    fn send(to: &Self::Address, message: u64) {
        to.send(message).expect("the actor lives");
    }
}

/// async-executor, with async-channel.
pub(super) struct Async {
    // Dropped after its threads, with the tasks that are left.
    _threads: ExecutorThreads,
    executor: Arc<Executor<'static>>,
}

impl Async {
    fn start() -> Self {
        let executor = Arc::new(Executor::new());
        Self {
            _threads: ExecutorThreads::start(&executor),
            executor,
        }
    }
}

impl Async {
    pub(super) fn executor(&self) -> &Arc<Executor<'static>> {
        &self.executor
    }
}

impl Spawner for Async {
    fn new() -> Self {
        Self::start()
    }

    fn spawn_all(&self, count: u64) -> u64 {
        sum_of(count, |number| {
            self.executor.spawn(async move { black_box(number) })
        })
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

/// Its faster form, which cannot be dropped.
pub(super) struct AsyncStatic {
    _threads: ExecutorThreads,
}

pub(super) static EXECUTOR: StaticExecutor = StaticExecutor::new();

impl Spawner for AsyncStatic {
    fn new() -> Self {
        Self {
            _threads: ExecutorThreads::start_static(&EXECUTOR, workers()),
        }
    }

    fn spawn_all(&self, count: u64) -> u64 {
        sum_of(count, |number| {
            EXECUTOR.spawn(async move { black_box(number) })
        })
    }
}

impl Actors for Async {
    type Address = async_channel::Sender<u64>;

    fn new() -> Self {
        Self::start()
    }

    fn actor(&self, mut behaviour: impl FnMut(u64) + Send + 'static) -> Self::Address {
        let (address, mailbox) = async_channel::unbounded();
        let task = async move {
            while let Ok(message) = mailbox.recv().await {
                behaviour(message);
            }
        };
        self.executor.spawn(task).detach();
        address
    }

    fn send(to: &Self::Address, message: u64) {
        to.try_send(message).expect("the actor lives");
    }
}

pub(super) type Rayon = rayon::ThreadPool;

impl Spawner for Rayon {
    fn new() -> Self {
        rayon_pool()
    }

    /// In a scope, whose tasks return nothing: they add to the sum themselves.
    fn spawn_all(&self, count: u64) -> u64 {
        let sum = AtomicU64::new(0);
        self.in_place_scope(|scope| {
            for number in 1..=count {
                let sum = &sum;
                scope.spawn(move |_| {
                    sum.fetch_add(number, Ordering::Relaxed);
                });
            }
        });
        sum.into_inner()
    }
}
