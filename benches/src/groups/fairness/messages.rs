//! How long a message from outside takes to an idle process, beside others that are busy.
//!
//! A thread outside sends one every few milliseconds, and sleeps in between: it takes next to
//! nothing of the cores, and does not wait for the one before. So a receiver that is late is not
//! sent fewer.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::contenders::Pool;
use super::work::Work;
use super::{Over, WARM_UP};

/// The processes that are busy meanwhile.
#[derive(Clone, Copy, Default)]
pub(in crate::groups) struct Beside {
    /// How many yield after each step, and how long the step is.
    pub(in crate::groups) yielders: Option<(usize, Work)>,
    /// How many pairs pass a message to and fro, and how long each step is.
    pub(in crate::groups) pairs: Option<(usize, Work)>,
}

impl Beside {
    pub(in crate::groups) fn start<P: Pool>(self, pool: &P, over: &Over) {
        if let Some((count, work)) = self.yielders {
            for _ in 0..count {
                let over = over.clone();
                pool.yielder(move || {
                    work.run();
                    over.not_yet()
                });
            }
        }
        if let Some((count, work)) = self.pairs {
            for _ in 0..count {
                let over = over.clone();
                pool.pair(move || {
                    work.run();
                    over.not_yet()
                });
            }
        }
    }
}

/// `count` messages, one every `period`: microseconds until each is taken.
pub(super) fn latencies<P: Pool>(
    workers: usize,
    beside: Beside,
    count: u64,
    period: Duration,
) -> impl FnMut() -> Vec<f64> {
    move || {
        let pool = P::new(workers);
        let over = Over::default();
        beside.start(&pool, &over);
        let base = Instant::now();
        let now = move || base.elapsed().as_nanos() as u64;
        let (taken, latencies) = mpsc::channel();
        let send = pool.receiver(move |sent| {
            let latency = (now() - sent) as f64 / 1e3;
            taken.send(latency).expect("the caller counts them");
        });
        thread::sleep(WARM_UP);
        // The receiver has perhaps not begun: the first message is not counted.
        for _ in 0..=count {
            send(now());
            thread::sleep(period);
        }
        let latencies = latencies.into_iter().skip(1).take(count as usize);
        let latencies = latencies.collect();
        over.set();
        latencies
    }
}
