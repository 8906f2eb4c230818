//! What recording costs: `cargo run --release -p linearizability --example cost`.
//!
//! Two threads record calls that do nothing, with a clock of their own each and with one clock for
//! both; and the store buffering litmus test shows which of the two leaves the object's own races
//! alone.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use linearizability::Recording;

const CALLS: u32 = 200_000;
const ROUNDS: u32 = 20_000;

fn recording<'a, O: Send>(with_one_clock: bool) -> Recording<'a, O> {
    if with_one_clock {
        Recording::with_one_clock()
    } else {
        Recording::new()
    }
}

fn nanoseconds_per_call(with_one_clock: bool) -> f64 {
    let mut recording = recording::<()>(with_one_clock);
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

/// How often each of two threads wrote its own word and then read the other's as if nobody had
/// written it.
fn store_buffering(with_one_clock: bool) -> usize {
    let words: Vec<_> = (0..2 * ROUNDS).map(|_| AtomicU32::new(0)).collect();
    let turns = [AtomicU32::new(0), AtomicU32::new(0)];
    let mut recording = recording(with_one_clock);
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
    for with_one_clock in [false, true] {
        let costs = [(); 5].map(|()| nanoseconds_per_call(with_one_clock));
        let best = costs.into_iter().fold(f64::INFINITY, f64::min);
        let seen = store_buffering(with_one_clock);
        println!(
            "one clock: {with_one_clock:5}  {best:5.1} ns per call  store buffering in {seen} of {ROUNDS} rounds"
        );
    }
}
