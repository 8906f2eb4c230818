//! Floors: what the least that such work needs costs on this machine.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::clock::{cost, per_operation, time};

/// `rmws` read-modify-writes an operation, on a word that no other thread touches.
pub(crate) fn uncontended_rmws(rmws: u32, operations: u64) -> impl FnMut() -> f64 {
    let word = AtomicU64::new(0);
    move || {
        cost(operations, || {
            for _ in 0..operations {
                for _ in 0..rmws {
                    black_box(word.fetch_add(1, Ordering::AcqRel));
                }
            }
        })
    }
}

/// A round trip between two sleeping threads: two wake-ups, and nothing else.
pub(crate) fn parked_thread(round_trips: u64) -> impl FnMut() -> f64 {
    move || {
        let turns = Arc::new(AtomicU64::new(0));
        let caller = thread::current();
        let answerer = thread::spawn({
            let turns = Arc::clone(&turns);
            move || {
                for turn in 0..round_trips {
                    while turns.load(Ordering::Acquire) != 2 * turn + 1 {
                        thread::park();
                    }
                    turns.store(2 * turn + 2, Ordering::Release);
                    caller.unpark();
                }
            }
        });
        let elapsed = time(|| {
            for turn in 0..round_trips {
                turns.store(2 * turn + 1, Ordering::Release);
                answerer.thread().unpark();
                while turns.load(Ordering::Acquire) != 2 * turn + 2 {
                    thread::park();
                }
            }
        });
        answerer.join().expect("it answers");
        per_operation(elapsed, round_trips)
    }
}
