//! The contenders: filch's processes, and tasks with channels as a user of the rivals writes them.

use std::sync::Arc;

use async_executor::Executor;
use filch_actors::Caller;
use filch_actors::prelude::*;
use filch_scheduler::{
    Context, Event, Events, InitError, Pid, Process, Protocol, Scheduler, StepOutput,
};
use futures_lite::future::yield_now;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use crate::rivals::{ExecutorThreads, tokio_runtime_of};

/// Sends a message from outside.
pub(in crate::groups) type Sender = Box<dyn Fn(u64)>;

/// A pool of workers, and what can live in it. A step that says `false` is the last one.
pub(in crate::groups) trait Pool: Sized + 'static {
    const NAME: &'static str;

    fn new(workers: usize) -> Self;

    /// Runs `task` once.
    fn spawn(&self, task: impl FnOnce() + Send + 'static);

    /// An idle receiver, which calls `take` with each message.
    fn receiver(&self, take: impl FnMut(u64) + Send + 'static) -> Sender;

    /// Takes a step, gives way to all others, and so on.
    fn yielder(&self, step: impl FnMut() -> bool + Send + 'static);

    /// Two that send one message to and fro, with a step for each way.
    fn pair(&self, step: impl FnMut() -> bool + Clone + Send + 'static);

    /// A receiver that has never fewer than `backlog` messages: it takes a step for each, and sends
    /// it to itself again.
    fn flooded(&self, backlog: u64, step: impl FnMut() -> bool + Send + 'static);
}

/// A pool whose tasks may block.
pub(in crate::groups) trait BlockingPool: Pool {
    /// Runs a task that makes a blocking call, in the way that keeps the others going.
    fn spawn_blocking(&self, call: impl FnOnce() + Send + 'static);
}

/// What processes say to each other.
pub(in crate::groups) enum Talk {}

pub(in crate::groups) enum Message {
    /// From outside.
    Number(u64),
    /// From a thread outside that wants it back.
    Ask(u64, Caller<u64>),
    /// To be sent on, or back.
    Ball,
    /// The other one of a pair, which gets the ball.
    Partner(Pid),
}

impl Protocol for Talk {
    type Input = ();
    type Message = Message;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

/// A process whose step is a closure.
struct Steps<F>(F);

impl<F> Process<Talk> for Steps<F>
where
    F: FnMut(&Context<'_, Talk>, Events<'_, Talk>, &mut StepOutput<Talk>) + Send,
{
    fn init(&mut self, _: &Context<'_, Talk>, _: &str, (): ()) -> Result<(), InitError<Talk>> {
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, Talk>,
        events: Events<'_, Talk>,
        out: &mut StepOutput<Talk>,
    ) -> Result<(), String> {
        (self.0)(context, events, out);
        Ok(())
    }
}

pub(in crate::groups) type Filch = Scheduler<Talk>;

/// A process of one step, which does nothing.
pub(super) fn done_at_once() -> impl Process<Talk> {
    Steps(|_: &Context<'_, Talk>, _: Events<'_, Talk>, out: &mut StepOutput<Talk>| out.done(()))
}

/// Gives callers their numbers back.
pub(super) fn answering(scheduler: &Filch) -> Pid {
    submit(scheduler, |_, events, out| {
        for event in events {
            match event {
                Event::Message(Message::Ask(number, caller)) => out.answer(caller, number),
                _ => out.done(()),
            }
        }
    })
}

fn submit(
    scheduler: &Filch,
    step: impl FnMut(&Context<'_, Talk>, Events<'_, Talk>, &mut StepOutput<Talk>) + Send + 'static,
) -> Pid {
    let submitted = scheduler.submit(Steps(step), "run", ());
    submitted.unwrap_or_else(|error| panic!("{error}")).pid()
}

/// A process that answers each ball by `step`, and sends it to its partner, or to itself. It lives
/// until a step says `false`, or the scheduler ends.
fn player(scheduler: &Filch, mut step: impl FnMut() -> bool + Send + 'static) -> Pid {
    let mut partner = None;
    submit(scheduler, move |context, events, out| {
        for event in events {
            match event {
                Event::Message(Message::Partner(pid)) => partner = Some(pid),
                Event::Message(_) if step() => {
                    // The partner may have ended.
                    let _ = context.send(partner.unwrap_or(context.pid()), Message::Ball);
                }
                _ => return out.done(()),
            }
        }
    })
}

impl Pool for Filch {
    const NAME: &'static str = "filch-scheduler";

    fn new(workers: usize) -> Self {
        let scheduler = Scheduler::builder().workers(workers).build();
        scheduler.expect("the system gives threads")
    }

    fn spawn(&self, task: impl FnOnce() + Send + 'static) {
        let mut task = Some(task);
        submit(self, move |_, _, out| {
            task.take().into_iter().for_each(|task| task());
            out.done(());
        });
    }

    fn receiver(&self, mut take: impl FnMut(u64) + Send + 'static) -> Sender {
        let pid = submit(self, move |_, events, out| {
            for event in events {
                match event {
                    Event::Message(Message::Number(number)) => take(number),
                    _ => out.done(()),
                }
            }
        });
        let scheduler = self.handle();
        Box::new(move |number| {
            let sent = scheduler.send(pid, Message::Number(number));
            sent.expect("it lives as long as the scheduler");
        })
    }

    fn yielder(&self, mut step: impl FnMut() -> bool + Send + 'static) {
        submit(self, move |_, _, out| {
            if step() {
                out.go_on();
            } else {
                out.done(());
            }
        });
    }

    fn pair(&self, step: impl FnMut() -> bool + Clone + Send + 'static) {
        let one = player(self, step.clone());
        let other = player(self, step);
        for (to, message) in [
            (one, Message::Partner(other)),
            (other, Message::Partner(one)),
            (one, Message::Ball),
        ] {
            self.send(to, message).expect("it lives");
        }
    }

    fn flooded(&self, backlog: u64, step: impl FnMut() -> bool + Send + 'static) {
        let pid = player(self, step);
        (0..backlog).for_each(|_| self.send(pid, Message::Ball).expect("it lives"));
    }
}

impl BlockingPool for Filch {
    fn spawn_blocking(&self, call: impl FnOnce() + Send + 'static) {
        let mut call = Some(call);
        submit(self, move |context, _, out| {
            if let Some(call) = call.take() {
                context.blocking(call);
            }
            out.done(());
        });
    }
}

pub(in crate::groups) type Tokio = Runtime;

impl Pool for Tokio {
    const NAME: &'static str = "tokio, mpsc";

    fn new(workers: usize) -> Self {
        tokio_runtime_of(workers)
    }

    fn spawn(&self, task: impl FnOnce() + Send + 'static) {
        drop(Runtime::spawn(self, async move { task() }));
    }

    fn receiver(&self, mut take: impl FnMut(u64) + Send + 'static) -> Sender {
        let (sender, mut mailbox) = mpsc::unbounded_channel();
        drop(Runtime::spawn(self, async move {
            while let Some(number) = mailbox.recv().await {
                take(number);
            }
        }));
        Box::new(move |number| sender.send(number).expect("it receives"))
    }

    fn yielder(&self, mut step: impl FnMut() -> bool + Send + 'static) {
        drop(Runtime::spawn(self, async move {
            while step() {
                tokio::task::yield_now().await;
            }
        }));
    }

    fn pair(&self, step: impl FnMut() -> bool + Clone + Send + 'static) {
        let (to_one, ones) = mpsc::unbounded_channel();
        let (to_other, others) = mpsc::unbounded_channel();
        to_one.send(()).expect("it is not closed");
        for (partner, mut mailbox) in [(to_other, ones), (to_one, others)] {
            let mut step = step.clone();
            drop(Runtime::spawn(self, async move {
                while mailbox.recv().await.is_some() && step() && partner.send(()).is_ok() {}
            }));
        }
    }

    fn flooded(&self, backlog: u64, mut step: impl FnMut() -> bool + Send + 'static) {
        let (sender, mut mailbox) = mpsc::unbounded_channel();
        (0..backlog).for_each(|_| sender.send(()).expect("it is not closed"));
        drop(Runtime::spawn(self, async move {
            while mailbox.recv().await.is_some() && step() && sender.send(()).is_ok() {}
        }));
    }
}

impl BlockingPool for Tokio {
    fn spawn_blocking(&self, call: impl FnOnce() + Send + 'static) {
        Pool::spawn(self, || tokio::task::block_in_place(call));
    }
}

/// async-executor, with async-channel.
pub(in crate::groups) struct Async {
    // Dropped after its threads, with the tasks that are left.
    _threads: ExecutorThreads,
    pub(in crate::groups) executor: Arc<Executor<'static>>,
}

impl Async {
    pub(super) fn executor(&self) -> &Executor<'static> {
        &self.executor
    }
}

impl Pool for Async {
    const NAME: &'static str = "async-executor, async-channel";

    fn new(workers: usize) -> Self {
        let executor = Arc::new(Executor::new());
        Self {
            _threads: ExecutorThreads::start_of(&executor, workers),
            executor,
        }
    }

    fn spawn(&self, task: impl FnOnce() + Send + 'static) {
        self.executor.spawn(async move { task() }).detach();
    }

    fn receiver(&self, mut take: impl FnMut(u64) + Send + 'static) -> Sender {
        let (sender, mailbox) = async_channel::unbounded();
        let task = async move {
            while let Ok(number) = mailbox.recv().await {
                take(number);
            }
        };
        self.executor.spawn(task).detach();
        Box::new(move |number| sender.try_send(number).expect("it receives"))
    }

    fn yielder(&self, mut step: impl FnMut() -> bool + Send + 'static) {
        let task = async move {
            while step() {
                yield_now().await;
            }
        };
        self.executor.spawn(task).detach();
    }

    fn pair(&self, step: impl FnMut() -> bool + Clone + Send + 'static) {
        let (to_one, ones) = async_channel::unbounded();
        let (to_other, others) = async_channel::unbounded();
        to_one.try_send(()).expect("it is not closed");
        for (partner, mailbox) in [(to_other, ones), (to_one, others)] {
            let mut step = step.clone();
            let task = async move {
                while mailbox.recv().await.is_ok() && step() && partner.try_send(()).is_ok() {}
            };
            self.executor.spawn(task).detach();
        }
    }

    fn flooded(&self, backlog: u64, mut step: impl FnMut() -> bool + Send + 'static) {
        let (sender, mailbox) = async_channel::unbounded();
        (0..backlog).for_each(|_| sender.try_send(()).expect("it is not closed"));
        let task = async move {
            while mailbox.recv().await.is_ok() && step() && sender.try_send(()).is_ok() {}
        };
        self.executor.spawn(task).detach();
    }
}
