//! A process that asks another one, waits for the answer, and asks again; and the same with a limit
//! for each answer, which is far away.

use std::time::{Duration, Instant};

use filch_actors::CallError;
use filch_actors::prelude::*;
use filch_scheduler::{Context, Event, Events, Pid, StepOutput, from_fn};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::clock::cost;
use crate::harness::{Scenario, keeping};
use crate::pools::{Actors, Of, Pool, TIMERS, Talk, Talking, Threads, Tokio, start};
use crate::work::workers;

const LIMIT: Duration = Duration::from_secs(60);

pub(super) fn scenarios(calls: u64) -> [Scenario; 2] {
    let tokio = asking(calls, Tokio::with_workers, oracle_task, task::<false>);
    let tokio_limited = asking(calls, Tokio::with_clock, oracle_task, task::<true>);
    [
        Scenario::new("a process calls another", "ns per call")
            .contender("filch-scheduler", ours(calls, process::<false>))
            .contender("filch-scheduler, future", ours(calls, future))
            .contender("tokio mpsc, oneshot", tokio),
        Scenario::new("a process calls another, with a limit", "ns per call")
            .contender("filch-scheduler", ours(calls, process::<true>))
            .contender("tokio mpsc, oneshot", tokio_limited),
    ]
}

/// A thread outside calls.
pub(super) fn from_outside(calls: u64) -> impl FnMut() -> f64 {
    ours(calls, |pool, &to, calls| {
        let call = |_| (**pool).call(to, Talk::Ask).expect("it lives");
        (0..calls).map(call).sum()
    })
}

pub(super) fn tokio_from_outside(calls: u64) -> impl FnMut() -> f64 {
    asking(
        calls,
        Tokio::with_workers,
        oracle_task,
        |_, oracle, calls| {
            let call = |_| {
                let (caller, answer) = oneshot::channel();
                oracle.send(caller).expect("the oracle lives");
                answer.blocking_recv().expect("it answers")
            };
            (0..calls).map(call).sum()
        },
    )
}

fn ours(calls: u64, ask: fn(&Talking, &Pid, u64) -> u64) -> impl FnMut() -> f64 {
    asking(calls, Talking::with_workers, oracle, ask)
}

/// The sum of the answers, each of which is 1, is the number of calls.
fn asking<P: 'static, C: 'static>(
    calls: u64,
    pool: fn(usize) -> P,
    oracle: fn(&P) -> C,
    ask: fn(&P, &C, u64) -> u64,
) -> impl FnMut() -> f64 {
    let both = move || {
        let pool = pool(workers());
        let oracle = oracle(&pool);
        (pool, oracle)
    };
    keeping(both, move |(pool, oracle)| {
        cost(calls, || assert_eq!(ask(pool, oracle, calls), calls))
    })
}

fn oracle(pool: &Talking) -> Pid {
    let process = start(pool, |_, events, out| {
        for event in events {
            match event {
                Event::Message(Talk::Ask(caller)) => out.answer(caller, 1),
                _ => out.done(0),
            }
        }
    });
    process.pid()
}

type Caller = oneshot::Sender<u64>;

fn oracle_task(pool: &Tokio) -> UnboundedSender<Caller> {
    pool.actor(|caller: Caller| {
        // The caller waits.
        let _ = caller.send(1);
    })
}

fn process<const IS_LIMITED: bool>(pool: &Talking, &to: &Pid, calls: u64) -> u64 {
    let deadline = Instant::now() + LIMIT;
    let (mut left, mut sum) = (calls, 0);
    let asker = from_fn(
        move |context: &Context<'_, Of<Talk>>, events: Events<'_, _>, out: &mut StepOutput<_>| {
            for event in events {
                if let Event::Completed { result, .. } = event {
                    sum += result.map_err(|error| error.to_string())?;
                }
            }
            if left == 0 {
                out.done(sum);
                return Ok(());
            }
            left -= 1;
            let answer = |answer: Result<u64, CallError<_>>| answer.map_err(|e| e.to_string());
            match IS_LIMITED {
                true => out.call_by(context, 0, (deadline, &TIMERS), to, Talk::Ask, answer),
                false => out.call(context, 0, to, Talk::Ask, answer),
            }
            out.wait();
            Ok(())
        },
    );
    let sum = (**pool).execute(asker, "run", ());
    sum.unwrap_or_else(|error| panic!("{error}"))
}

/// An async function asks.
fn future(pool: &Talking, &to: &Pid, calls: u64) -> u64 {
    let handle = pool.handle();
    let asker = (**pool).spawn(async move {
        let mut sum = 0;
        for _ in 0..calls {
            let answer = handle.ask(to, Talk::Ask).await;
            sum += answer.unwrap_or_else(|error| panic!("{error}"));
        }
        sum
    });
    let asker = asker.unwrap_or_else(|error| panic!("{error}"));
    asker.join().unwrap_or_else(|error| panic!("{error}"))
}

/// A task with a channel, and a channel for each answer.
fn task<const IS_LIMITED: bool>(
    runtime: &Tokio,
    oracle: &UnboundedSender<Caller>,
    calls: u64,
) -> u64 {
    let oracle = oracle.clone();
    let asker = Tokio::spawn(runtime, async move {
        let mut sum = 0;
        for _ in 0..calls {
            let (caller, answer) = oneshot::channel();
            oracle.send(caller).expect("the oracle lives");
            let answer = match IS_LIMITED {
                true => timeout(LIMIT, answer).await.expect("in time"),
                false => answer.await,
            };
            sum += answer.expect("it answers");
        }
        sum
    });
    runtime.block_on(asker).expect("it does not panic")
}
