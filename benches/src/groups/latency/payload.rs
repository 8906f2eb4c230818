//! Messages of several sizes, as values: what it costs to carry them.

use std::cell::LazyCell;
use std::sync::Arc;

use async_executor::Executor;
use filch_actors::prelude::*;
use filch_scheduler::{
    Context, Event, Events, InitError, Process, Protocol, Scheduler, StepOutput,
};
use tokio::sync::mpsc;

use crate::harness::{Effort, Scenario, per_operation, time};
use crate::rivals::{ExecutorThreads, WORKERS, tokio_runtime};
use crate::total::Total;

/// How the receiver tells the thread outside that it has all of a burst.
static TOTAL: Total = Total::new();

type Payload<const N: usize> = [u8; N];

/// Carries payloads from a thread outside to one that receives them, and adds 1 for each.
trait Carrier<const N: usize>: Sized + 'static {
    fn new() -> Self;
    fn send(&self, payload: Payload<N>);
}

pub(super) fn scenarios(effort: Effort) -> [Scenario; 3] {
    let count = effort.operations(100_000);
    [
        of::<8>("messages of 8 bytes from outside", count),
        of::<256>("messages of 256 bytes from outside", count),
        of::<4096>("messages of 4 KiB from outside", count / 8),
    ]
}

fn of<const N: usize>(name: &str, count: u64) -> Scenario {
    Scenario::new(name, "ns per message")
        .contender("filch-scheduler", burst::<N, Filch<N>>(count))
        .contender("tokio, mpsc", burst::<N, Tokio<N>>(count))
        .contender("async-executor, async-channel", burst::<N, Async<N>>(count))
}

/// A burst, from the first send until the last one is received.
fn burst<const N: usize, C: Carrier<N>>(count: u64) -> impl FnMut() -> f64 {
    let carrier = LazyCell::new(C::new);
    move || {
        let carrier = &*carrier;
        TOTAL.expect(count);
        let elapsed = time(|| {
            (0..count).for_each(|_| carrier.send([1; N]));
            TOTAL.wait();
        });
        per_operation(elapsed, count)
    }
}

/// All bytes are the same: the last one stands for what was carried.
fn receive<const N: usize>(payload: &Payload<N>) {
    TOTAL.add(payload[N - 1].into());
}

struct Carried<const N: usize>;

impl<const N: usize> Protocol for Carried<N> {
    type Input = ();
    type Message = Payload<N>;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

struct Receiver;

impl<const N: usize> Process<Carried<N>> for Receiver {
    fn init(
        &mut self,
        _: &Context<'_, Carried<N>>,
        _: &str,
        (): (),
    ) -> Result<(), InitError<Carried<N>>> {
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Carried<N>>,
        events: Events<'_, Carried<N>>,
        out: &mut StepOutput<Carried<N>>,
    ) -> Result<(), String> {
        for event in events {
            match event {
                Event::Message(payload) => receive(&payload),
                _ => out.done(()),
            }
        }
        Ok(())
    }
}

struct Filch<const N: usize>(Scheduler<Carried<N>>, filch_scheduler::Pid);

impl<const N: usize> Carrier<N> for Filch<N> {
    fn new() -> Self {
        let scheduler = Scheduler::builder().workers(WORKERS).build();
        let scheduler = scheduler.expect("the system gives threads");
        let receiver = scheduler.submit(Receiver, "run", ());
        let pid = receiver.unwrap_or_else(|error| panic!("{error}")).pid();
        Self(scheduler, pid)
    }

    fn send(&self, payload: Payload<N>) {
        self.0.send(self.1, payload).expect("it receives");
    }
}

struct Tokio<const N: usize> {
    sender: mpsc::UnboundedSender<Payload<N>>,
    _runtime: tokio::runtime::Runtime,
}

impl<const N: usize> Carrier<N> for Tokio<N> {
    fn new() -> Self {
        let runtime = tokio_runtime();
        let (sender, mut mailbox) = mpsc::unbounded_channel();
        drop(runtime.spawn(async move {
            while let Some(payload) = mailbox.recv().await {
                receive(&payload);
            }
        }));
        Self {
            sender,
            _runtime: runtime,
        }
    }

    fn send(&self, payload: Payload<N>) {
        self.sender.send(payload).expect("it receives");
    }
}

struct Async<const N: usize> {
    sender: async_channel::Sender<Payload<N>>,
    _threads: ExecutorThreads,
}

impl<const N: usize> Carrier<N> for Async<N> {
    fn new() -> Self {
        let executor = Arc::new(Executor::new());
        let (sender, mailbox) = async_channel::unbounded();
        let task = executor.spawn(async move {
            while let Ok(payload) = mailbox.recv().await {
                receive(&payload);
            }
        });
        task.detach();
        Self {
            sender,
            _threads: ExecutorThreads::start(&executor),
        }
    }

    fn send(&self, payload: Payload<N>) {
        self.sender.try_send(payload).expect("it receives");
    }
}
