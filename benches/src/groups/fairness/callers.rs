//! A thread outside that waits for what it asks for: how long that takes, and what it costs those
//! that are busy meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use futures_lite::future::block_on;
use tokio::runtime::Runtime;

use super::contenders::{Async, Filch, Pool, done_at_once};
use super::work::Work;
use super::{Over, WARM_UP};

/// A pool in which a thread outside waits for one task that does nothing.
pub(super) trait Callable: Pool {
    /// By the call for that.
    fn execute(&self);

    /// In two calls, if there is another way.
    fn submit_then_join(&self);
}

impl Callable for Filch {
    fn execute(&self) {
        let executed = (**self).execute(done_at_once(), "run", ());
        executed.expect("it is done");
    }

    fn submit_then_join(&self) {
        let process = self.submit(done_at_once(), "run", ());
        let process = process.unwrap_or_else(|error| panic!("{error}"));
        process.join().expect("it is done");
    }
}

/// `block_on` of the runtime polls on the caller's thread: what is spawned is the task.
impl Callable for Runtime {
    fn execute(&self) {
        let task = Self::spawn(self, async {});
        self.block_on(task).expect("it is done");
    }

    fn submit_then_join(&self) {
        Callable::execute(self);
    }
}

impl Callable for Async {
    fn execute(&self) {
        block_on(self.executor().spawn(async {}));
    }

    fn submit_then_join(&self) {
        self.execute();
    }
}

/// Microseconds of each of `count` calls, one after the other, of a pool with nothing else to do.
pub(super) fn latencies<P: Callable>(
    workers: usize,
    count: u64,
    call: fn(&P),
) -> impl FnMut() -> Vec<f64> {
    move || {
        let pool = P::new(workers);
        thread::sleep(WARM_UP);
        let calls = (0..count).map(|_| {
            let begun = Instant::now();
            call(&pool);
            begun.elapsed().as_nanos() as f64 / 1e3
        });
        calls.collect()
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

/// What the chain gets done in `length`, in per cent of what fits, beside a thread that calls, is
/// busy for `pause` itself, and calls again.
pub(super) fn chain_beside<P: Callable>(
    workers: usize,
    chain: Chain,
    step: Work,
    pause: Option<Duration>,
    length: Duration,
) -> impl FnMut() -> f64 {
    move || {
        let pool = P::new(workers);
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
        while begun.elapsed() < length {
            pool.execute();
            let called = Instant::now();
            while pause.is_some_and(|pause| called.elapsed() < pause) {
                std::hint::spin_loop();
            }
        }
        let taken = steps.load(Ordering::Relaxed) - before;
        let shortest = nanos.load(Ordering::Relaxed);
        let part = (taken * shortest) as f64 / begun.elapsed().as_nanos() as f64;
        over.set();
        100.0 * part
    }
}
