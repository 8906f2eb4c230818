//! A process that asks another one, waits for the answer, and asks again.

use std::cell::LazyCell;
use std::time::{Duration, Instant};

use filch_actors::prelude::*;
use filch_actors::timers::Timers;
use filch_actors::{CallError, Caller};
use filch_scheduler::{Context, Event, Pid, Protocol, Scheduler, StepOutput, from_fn};
use tokio::sync::{mpsc, oneshot};

use super::contenders::Tokio;
use crate::harness::{per_operation, time};
use crate::rivals::{WORKERS, tokio_runtime};

/// Nothing but questions.
pub(super) enum Questions {}

impl Protocol for Questions {
    type Input = ();
    type Message = Caller<u64>;
    type Command = ();
    type Reply = u64;
    type Output = u64;
    type Error = String;
}

/// A process that answers, and what asks it so many times.
pub(super) trait Asker: 'static {
    fn new() -> Self;
    /// The sum of the answers, each of which is 1.
    fn ask(&self, times: u64) -> u64;
}

/// A scheduler with a process that answers.
struct Answering {
    scheduler: Scheduler<Questions>,
    oracle: Pid,
}

impl Answering {
    fn new() -> Self {
        let scheduler = Scheduler::builder().workers(WORKERS).build();
        let scheduler = scheduler.expect("the system gives threads");
        let oracle = from_fn(|_, events, out| {
            for event in events {
                match event {
                    Event::Message(caller) => out.answer(caller, 1),
                    _ => out.done(0),
                }
            }
            Ok(())
        });
        let oracle = scheduler.submit(oracle, "run", ());
        let oracle = oracle.unwrap_or_else(|error| panic!("{error}")).pid();
        Self { scheduler, oracle }
    }

    /// By a process that makes each call by `call`.
    fn ask<C>(&self, times: u64, mut call: C) -> u64
    where
        C: FnMut(&Context<'_, Questions>, &mut StepOutput<Questions>, Pid) + Send + 'static,
    {
        let (mut left, mut sum) = (times, 0);
        let oracle = self.oracle;
        let asker = from_fn(move |context, events, out| {
            for event in events {
                if let Event::Completed { result, .. } = event {
                    sum += result.map_err(|error| error.to_string())?;
                }
            }
            if left == 0 {
                out.done(sum);
            } else {
                left -= 1;
                call(context, out, oracle);
                out.wait();
            }
            Ok(())
        });
        let sum = self.scheduler.execute(asker, "run", ());
        sum.unwrap_or_else(|error| panic!("{error}"))
    }
}

fn number(answer: Result<u64, CallError<Questions>>) -> Result<u64, String> {
    answer.map_err(|error| error.to_string())
}

pub(super) struct Plain(Answering);

impl Asker for Plain {
    fn new() -> Self {
        Self(Answering::new())
    }

    fn ask(&self, times: u64) -> u64 {
        self.0.ask(times, |context, out, oracle| {
            out.call(context, 0, oracle, |it| it, number);
        })
    }
}

/// Each call has a limit that is far away.
pub(super) struct Limited(Answering, Timers);

impl Asker for Limited {
    fn new() -> Self {
        let timers = Timers::new().expect("the system gives a thread");
        Self(Answering::new(), timers)
    }

    fn ask(&self, times: u64) -> u64 {
        let timers = self.1.clone();
        let deadline = Instant::now() + Duration::from_secs(60);
        self.0.ask(times, move |context, out, oracle| {
            out.call_by(context, 0, (deadline, &timers), oracle, |it| it, number);
        })
    }
}

/// An async function asks.
pub(super) struct Function(Answering);

impl Asker for Function {
    fn new() -> Self {
        Self(Answering::new())
    }

    fn ask(&self, times: u64) -> u64 {
        let (handle, oracle) = (self.0.scheduler.handle(), self.0.oracle);
        let asker = self.0.scheduler.spawn(async move {
            let mut sum = 0;
            for _ in 0..times {
                let answer = handle.ask(oracle, |it| it).await;
                sum += answer.unwrap_or_else(|error| panic!("{error}"));
            }
            sum
        });
        let asker = asker.unwrap_or_else(|error| panic!("{error}"));
        asker.join().unwrap_or_else(|error| panic!("{error}"))
    }
}

/// A task with a channel, and a channel for each answer.
pub(super) struct TokioAsker {
    runtime: Tokio,
    oracle: mpsc::UnboundedSender<oneshot::Sender<u64>>,
}

impl TokioAsker {
    fn on(runtime: Tokio) -> Self {
        let (oracle, mut questions) = mpsc::unbounded_channel::<oneshot::Sender<u64>>();
        drop(runtime.spawn(async move {
            while let Some(caller) = questions.recv().await {
                let _ = caller.send(1);
            }
        }));
        Self { runtime, oracle }
    }
}

impl Asker for TokioAsker {
    fn new() -> Self {
        Self::on(tokio_runtime())
    }

    fn ask(&self, times: u64) -> u64 {
        let oracle = self.oracle.clone();
        let asker = self.runtime.spawn(async move {
            let mut sum = 0;
            for _ in 0..times {
                let (caller, answer) = oneshot::channel();
                oracle.send(caller).expect("the oracle lives");
                sum += answer.await.expect("it answers");
            }
            sum
        });
        self.runtime.block_on(asker).expect("it does not panic")
    }
}

/// The same, with a limit for each answer.
pub(super) struct TokioLimited(TokioAsker);

impl Asker for TokioLimited {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .enable_time()
            .build();
        Self(TokioAsker::on(runtime.expect("the system gives threads")))
    }

    fn ask(&self, times: u64) -> u64 {
        let oracle = self.0.oracle.clone();
        let asker = self.0.runtime.spawn(async move {
            let mut sum = 0;
            for _ in 0..times {
                let (caller, answer) = oneshot::channel();
                oracle.send(caller).expect("the oracle lives");
                let answer = tokio::time::timeout(Duration::from_secs(60), answer).await;
                sum += answer.expect("in time").expect("it answers");
            }
            sum
        });
        self.0.runtime.block_on(asker).expect("it does not panic")
    }
}

pub(super) fn asking<A: Asker>(times: u64) -> impl FnMut() -> f64 {
    let asker = LazyCell::new(A::new);
    move || {
        let asker = &*asker;
        let elapsed = time(|| assert_eq!(asker.ask(times), times));
        per_operation(elapsed, times)
    }
}
