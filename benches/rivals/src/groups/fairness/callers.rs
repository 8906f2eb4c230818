//! A thread outside that waits for what it asks for: how long that takes, and what it costs those
//! that are busy meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{Over, WARM_UP};
use crate::pools::Pool;
use crate::work::Work;

/// The call that a thread outside waits in.
#[derive(Clone, Copy)]
pub(super) enum Wait {
    Execute,
    SubmitThenJoin,
    Call,
}

impl Wait {
    fn once<P: Pool>(self, pool: &P, callee: &P::Callee) {
        match self {
            Self::Execute => pool.execute(),
            Self::SubmitThenJoin => pool.submit_then_join(),
            Self::Call => assert_eq!(pool.call(callee, 7), 7),
        }
    }
}

/// Microseconds of each of `count` calls, one after the other, of a pool with nothing else to do.
pub(super) fn latencies<P: Pool>(
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
pub(super) fn keep_calling<P: Pool>(
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

/// Measures the progress of the chain in `length`, in per cent of what fits, beside a thread that
/// [keeps calling](keep_calling).
pub(super) fn chain_beside<P: Pool>(
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
