//! A thread outside that waits for what it asks for: how long that takes, and what it costs those
//! that are busy meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use filch_actors::prelude::*;
use filch_scheduler::Pid;
use futures_lite::future::block_on;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};

use super::contenders::{Async, Filch, Message, Pool, answering, done_at_once};
use super::work::Work;
use super::{Over, WARM_UP};

/// A pool in which a thread outside waits for one task that does nothing, or for an answer.
pub(in crate::groups) trait Callable: Pool {
    /// The address of a process that gives each number back to the thread that asks.
    type Callee;

    /// By the call for that.
    fn execute(&self);

    /// In two calls, if there is another way.
    fn submit_then_join(&self);

    fn callee(&self) -> Self::Callee;

    /// What comes back.
    fn call(&self, callee: &Self::Callee, number: u64) -> u64;
}

impl Callable for Filch {
    type Callee = Pid;

    fn execute(&self) {
        let executed = (**self).execute(done_at_once(), "run", ());
        executed.expect("it is done");
    }

    fn submit_then_join(&self) {
        let process = self.submit(done_at_once(), "run", ());
        let process = process.unwrap_or_else(|error| panic!("{error}"));
        process.join().expect("it is done");
    }

    fn callee(&self) -> Pid {
        answering(self)
    }

    fn call(&self, callee: &Pid, number: u64) -> u64 {
        let answer = (**self).call(*callee, |caller| Message::Ask(number, caller));
        answer.expect("it lives")
    }
}

/// `block_on` of the runtime polls on the caller's thread: what is spawned is the task.
impl Callable for Runtime {
    type Callee = mpsc::UnboundedSender<(u64, oneshot::Sender<u64>)>;

    fn execute(&self) {
        let task = Self::spawn(self, async {});
        self.block_on(task).expect("it is done");
    }

    fn submit_then_join(&self) {
        Callable::execute(self);
    }

    fn callee(&self) -> Self::Callee {
        let (address, mut mailbox) = mpsc::unbounded_channel::<(u64, oneshot::Sender<u64>)>();
        drop(Self::spawn(self, async move {
            while let Some((number, caller)) = mailbox.recv().await {
                // The caller waits.
                let _ = caller.send(number);
            }
        }));
        address
    }

    fn call(&self, callee: &Self::Callee, number: u64) -> u64 {
        let (caller, answer) = oneshot::channel();
        callee.send((number, caller)).expect("it receives");
        answer.blocking_recv().expect("it answers")
    }
}

impl Callable for Async {
    type Callee = async_channel::Sender<(u64, async_channel::Sender<u64>)>;

    fn execute(&self) {
        block_on(self.executor().spawn(async {}));
    }

    fn submit_then_join(&self) {
        self.execute();
    }

    fn callee(&self) -> Self::Callee {
        type Asked = (u64, async_channel::Sender<u64>);
        let (address, mailbox) = async_channel::unbounded::<Asked>();
        let task = async move {
            while let Ok((number, caller)) = mailbox.recv().await {
                // The caller waits, and there is room for one.
                let _ = caller.try_send(number);
            }
        };
        self.executor().spawn(task).detach();
        address
    }

    fn call(&self, callee: &Self::Callee, number: u64) -> u64 {
        let (caller, answer) = async_channel::bounded(1);
        callee.try_send((number, caller)).expect("it receives");
        answer.recv_blocking().expect("it answers")
    }
}

/// What a thread outside waits for.
#[derive(Clone, Copy)]
pub(super) enum Wait {
    Execute,
    SubmitThenJoin,
    Call,
}

impl Wait {
    fn once<P: Callable>(self, pool: &P, callee: &P::Callee) {
        match self {
            Self::Execute => pool.execute(),
            Self::SubmitThenJoin => pool.submit_then_join(),
            Self::Call => assert_eq!(pool.call(callee, 7), 7),
        }
    }
}

/// Microseconds of each of `count` calls, one after the other, of a pool with nothing else to do.
pub(super) fn latencies<P: Callable>(
    workers: usize,
    count: u64,
    wait: Wait,
) -> impl FnMut() -> Vec<f64> {
    move || {
        let pool = P::new(workers);
        let callee = pool.callee();
        thread::sleep(WARM_UP);
        let calls = (0..count).map(|_| {
            let begun = Instant::now();
            wait.once(&pool, &callee);
            begun.elapsed().as_nanos() as f64 / 1e3
        });
        calls.collect()
    }
}

/// Waits for something in that way, is busy for `pause`, and does so again.
pub(super) fn keep_calling<P: Callable>(
    pool: &P,
    callee: &P::Callee,
    (wait, pause): (Wait, Option<Duration>),
    goes_on: impl Fn() -> bool,
) {
    while goes_on() {
        wait.once(pool, callee);
        let called = Instant::now();
        while pause.is_some_and(|pause| called.elapsed() < pause) {
            std::hint::spin_loop();
        }
    }
}

/// A chain of steps in which there is never more than one to take.
#[derive(Clone, Copy)]
pub(super) enum Chain {
    /// One process, which goes on.
    Single,
    /// Two, which send each other a message.
    Pair,
}

/// What the chain gets done in `length`, in per cent of what fits, beside a thread that
/// [keeps calling](keep_calling).
pub(super) fn chain_beside<P: Callable>(
    workers: usize,
    chain: Chain,
    step: Work,
    how: (Wait, Option<Duration>),
    length: Duration,
) -> impl FnMut() -> f64 {
    move || {
        let pool = P::new(workers);
        let callee = pool.callee();
        let over = Over::default();
        let nanos = Arc::new(AtomicU64::new(0));
        let steps = Arc::new(AtomicU64::new(0));
        let take_step = {
            let (over, steps, nanos) = (over.clone(), Arc::clone(&steps), Arc::clone(&nanos));
            move || {
                let begun = Instant::now();
                step.run();
                // The shortest one is one that nobody has interrupted.
                let took = begun.elapsed().as_nanos() as u64;
                let shortest = nanos.load(Ordering::Relaxed);
                if shortest == 0 || took < shortest {
                    nanos.store(took, Ordering::Relaxed);
                }
                steps.fetch_add(1, Ordering::Relaxed);
                over.not_yet()
            }
        };
        match chain {
            Chain::Single => pool.yielder(take_step),
            Chain::Pair => pool.pair(take_step),
        }
        thread::sleep(WARM_UP);
        let (before, begun) = (steps.load(Ordering::Relaxed), Instant::now());
        keep_calling(&pool, &callee, how, || begun.elapsed() < length);
        let taken = steps.load(Ordering::Relaxed) - before;
        let shortest = nanos.load(Ordering::Relaxed);
        let part = (taken * shortest) as f64 / begun.elapsed().as_nanos() as f64;
        over.set();
        100.0 * part
    }
}
