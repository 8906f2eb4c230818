//! How long a message from outside takes to an idle process, beside others that are busy.
//!
//! A thread outside sends one every few milliseconds, and sleeps in between: it takes next to
//! nothing of the cores, and does not wait for the one before. So a receiver that is late is not
//! sent fewer.

use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use super::callers::Callable;
use super::mixture::Mixture;
use super::{Over, WARM_UP};

/// `count` messages: microseconds until each is taken.
pub(super) fn latencies<P: Callable + Sync>(
    workers: usize,
    beside: Mixture,
    count: u64,
) -> impl FnMut() -> Vec<f64> {
    move || {
        let pool = P::new(workers);
        let over = Over::default();
        beside.keep_busy(&pool, &over);
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
            thread::sleep(beside.period);
        }
        let latencies = latencies.into_iter().skip(1).take(count as usize);
        let latencies = latencies.collect();
        over.set();
        latencies
    }
}
