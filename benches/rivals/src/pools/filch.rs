//! filch's schedulers, of processes with messages of any type.

use std::hint::black_box;
use std::marker::PhantomData;
use std::sync::LazyLock;
use std::time::Duration;

use filch_actors::Caller;
use filch_actors::prelude::*;
use filch_actors::timers::Timers;
use filch_scheduler::{
    Context, Event, Events, Handle, Pid, ProcessHandle, Protocol, Scheduler, StepOutput, from_fn,
};
use futures_lite::future::block_on;

use super::{Actors, BlockingPool, Pool, Spawner, Tasks, Threads, sum_of};

/// Messages of that type, and numbers otherwise.
pub(crate) struct Of<M>(PhantomData<fn(M)>);

impl<M: Send + 'static> Protocol for Of<M> {
    type Input = ();
    type Message = M;
    type Command = ();
    type Reply = u64;
    type Output = u64;
    type Error = String;
}

pub(crate) type Filch<M = u64> = Scheduler<Of<M>>;

/// Submits a process whose step is that closure.
pub(crate) fn start<M, F>(scheduler: &Handle<Of<M>>, mut step: F) -> ProcessHandle<Of<M>>
where
    M: Send + 'static,
    F: FnMut(&Context<'_, Of<M>>, Events<'_, Of<M>>, &mut StepOutput<Of<M>>) + Send + 'static,
{
    let process = from_fn(
        move |context: &Context<'_, _>, events: Events<'_, _>, out: &mut _| {
            step(context, events, out);
            Ok(())
        },
    );
    let submitted = scheduler.submit(process, "run", ());
    submitted.unwrap_or_else(|error| panic!("{error}"))
}

impl<M: Send + 'static> Threads for Filch<M> {
    fn with_workers(workers: usize) -> Self {
        let scheduler = Scheduler::builder().workers(workers).build();
        scheduler.expect("the system gives threads")
    }
}

impl<M: Send + 'static> Tasks for Filch<M> {
    fn spawn(&self, task: impl FnOnce() + Send + 'static) {
        let mut task = Some(task);
        drop(start(self, move |_, _, out| {
            task.take().into_iter().for_each(|task| task());
            out.done(0);
        }));
    }
}

impl<M: Send + 'static> Actors<M> for Filch<M> {
    type Address = (Handle<Of<M>>, Pid);

    fn actor(&self, mut behaviour: impl FnMut(M) + Send + 'static) -> Self::Address {
        let process = start(self, move |_, events, out| {
            for event in events {
                match event {
                    Event::Message(message) => behaviour(message),
                    _ => out.done(0),
                }
            }
        });
        (self.handle(), process.pid())
    }

    fn send((scheduler, to): &Self::Address, message: M) -> bool {
        scheduler.send(*to, message).is_ok()
    }
}

impl Spawner for Filch {
    fn spawn_all(&self, count: u64) -> u64 {
        let start = |number| start(self, move |_, _, out| out.done(number));
        let processes: Vec<_> = (1..=count).map(start).collect();
        let outputs = processes.into_iter().map(|process| {
            let joined = process.join();
            joined.unwrap_or_else(|error| panic!("{error}"))
        });
        outputs.sum()
    }
}

/// The same scheduler, with futures as its processes.
pub(crate) struct FilchFutures(Filch);

impl Threads for FilchFutures {
    fn with_workers(workers: usize) -> Self {
        Self(Threads::with_workers(workers))
    }
}

impl Spawner for FilchFutures {
    fn spawn_all(&self, count: u64) -> u64 {
        let spawn = |number| (*self.0).spawn(async move { black_box(number) });
        let futures: Vec<_> = (1..=count).map(spawn).collect();
        let outputs = futures.into_iter().map(async |future| {
            let future = future.expect("it is admitted");
            future.await.expect("it does not panic")
        });
        block_on(sum_of(outputs))
    }
}

/// The timers of all schedulers.
pub(crate) static TIMERS: LazyLock<Timers> =
    LazyLock::new(|| Timers::new().expect("the system gives threads"));

/// A message to a process that also answers.
pub(crate) enum Talk {
    Number(u64),
    /// Wants an answer.
    Ask(Caller<u64>),
}

/// A scheduler of processes that may be called.
pub(crate) type Talking = Filch<Talk>;

impl Actors<u64> for Talking {
    type Address = (Handle<Of<Talk>>, Pid);

    fn actor(&self, mut behaviour: impl FnMut(u64) + Send + 'static) -> Self::Address {
        Actors::<Talk>::actor(self, move |message| {
            if let Talk::Number(number) = message {
                behaviour(number);
            }
        })
    }

    fn send(to: &Self::Address, number: u64) -> bool {
        <Self as Actors<Talk>>::send(to, Talk::Number(number))
    }
}

impl Pool for Talking {
    const NAME: &'static str = "filch-scheduler";

    fn yielder(&self, mut step: impl FnMut() -> bool + Send + 'static) {
        drop(start(self, move |_, _, out| match step() {
            true => out.go_on(),
            false => out.done(0),
        }));
    }

    fn execute(&self) {
        let process = from_fn(|_, _, out: &mut StepOutput<_>| {
            out.done(0);
            Ok(())
        });
        assert_eq!((**self).execute(process, "run", ()).ok(), Some(0));
    }

    fn run(&self, future: impl Future<Output = ()> + Send + 'static) {
        drop((**self).spawn(future).expect("it is admitted"));
    }

    async fn sleep(length: Duration) {
        TIMERS.sleep(length).await.expect("they are never closed");
    }
}

impl BlockingPool for Talking {
    fn spawn_blocking(&self, call: impl FnOnce() + Send + 'static) {
        let mut call = Some(call);
        drop(start(self, move |context, _, out| {
            if let Some(call) = call.take() {
                context.blocking(call);
            }
            out.done(0);
        }));
    }
}
