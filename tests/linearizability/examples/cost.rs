//! The cost of recording: `cargo run --release -p linearizability --example cost`.
//!
//! Two threads record calls that do nothing, with a clock each and with one clock for both. A
//! store-buffering test then shows which of the two leaves the object's races alone.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use linearizability::{Clocks, Recording};

const CALLS: u32 = 200_000;
const ROUNDS: u32 = 20_000;

fn nanoseconds_per_call(clocks: Clocks) -> f64 {
    let mut recording = Recording::<()>::new(clocks);
    for _ in 0..2 {
        recording.thread(|log| {
            for _ in 0..CALLS {
                log.call(|| None);
            }
        });
    }
    let started = Instant::now();
    recording.run();
    started.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
}

/// Counts how often each of two threads wrote its own word and then did not see the other's write.
fn store_buffering(clocks: Clocks) -> usize {
    let words: Vec<_> = (0..2 * ROUNDS).map(|_| AtomicU32::new(0)).collect();
    let turns = [AtomicU32::new(0), AtomicU32::new(0)];
    let mut recording = Recording::new(clocks);
    for me in 0..2 {
        let (words, turns) = (&words, &turns);
        recording.thread(move |log| {
            for round in 0..ROUNDS as usize {
                turns[me].store(round as u32 + 1, Ordering::Release);
                while turns[1 - me].load(Ordering::Acquire) <= round as u32 {
                    std::hint::spin_loop();
                }
                log.call(|| {
                    words[2 * round + me].store(1, Ordering::Relaxed);
                    None
                });
                log.call(|| {
                    let missed = words[2 * round + 1 - me].load(Ordering::Relaxed) == 0;
                    missed.then_some(round)
                });
            }
        });
    }
    let history = recording.run();
    let missed = |thread| history.steps(thread).copied().collect::<Vec<_>>();
    let (one, other) = (missed(0), missed(1));
    one.iter().filter(|round| other.contains(round)).count()
}

fn main() {
    for clocks in Clocks::BOTH {
        let costs = [(); 5].map(|()| nanoseconds_per_call(clocks));
        let best = costs.into_iter().fold(f64::INFINITY, f64::min);
        let seen = store_buffering(clocks);
        println!(
            "{clocks:?}: {best:5.1} ns per call, store buffering in {seen} of {ROUNDS} rounds"
        );
    }
}
