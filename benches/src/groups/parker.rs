//! Sleep and wake-up of one thread: without the sleep, and with nothing but it.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::{self, Thread};

use crate::floor::uncontended_rmws;
use crate::harness::{Effort, Scenario, per_operation, time, time_together};

/// What the scenarios need from a parker.
trait Parker: Sized {
    type Unparker: Send;

    /// For the calling thread.
    fn new() -> Self;
    fn unparker(&self) -> Self::Unparker;
    fn park(&self);
    fn unpark(unparker: &Self::Unparker);
}

impl Parker for filch_parker::Parker {
    type Unparker = filch_parker::Unparker;

    fn new() -> Self {
        Self::new()
    }

    fn unparker(&self) -> Self::Unparker {
        self.unparker()
    }

    fn park(&self) {
        self.park();
    }

    fn unpark(unparker: &Self::Unparker) {
        black_box(unparker.unpark());
    }
}

impl Parker for crossbeam_utils::sync::Parker {
    type Unparker = crossbeam_utils::sync::Unparker;

    fn new() -> Self {
        Self::new()
    }

    fn unparker(&self) -> Self::Unparker {
        self.unparker().clone()
    }

    fn park(&self) {
        self.park();
    }

    fn unpark(unparker: &Self::Unparker) {
        unparker.unpark();
    }
}

/// The one that every thread has.
struct Std;

impl Parker for Std {
    type Unparker = Thread;

    fn new() -> Self {
        Self
    }

    fn unparker(&self) -> Thread {
        thread::current()
    }

    fn park(&self) {
        thread::park();
    }

    fn unpark(unparker: &Thread) {
        unparker.unpark();
    }
}

type Filch = filch_parker::Parker;
type Crossbeam = crossbeam_utils::sync::Parker;

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let tokens = effort.operations(2_000_000);
    let rallies = effort.operations(200_000);
    vec![
        Scenario::new("unpark + park, one thread", "ns per token")
            .contender("filch-parker", token::<Filch>(tokens))
            .contender("std park", token::<Std>(tokens))
            .contender("crossbeam Parker", token::<Crossbeam>(tokens))
            .floor("one uncontended RMW", uncontended_rmws(1, tokens)),
        Scenario::new("ping-pong, two threads", "ns per round trip")
            .contender("filch-parker", ping_pong::<Filch>(rallies))
            .contender("std park", ping_pong::<Std>(rallies))
            .contender("crossbeam Parker", ping_pong::<Crossbeam>(rallies)),
    ]
}

/// The token is always there: nobody sleeps.
fn token<P: Parker>(tokens: u64) -> impl FnMut() -> f64 {
    move || {
        let parker = P::new();
        let unparker = parker.unparker();
        let elapsed = time(|| {
            for _ in 0..tokens {
                P::unpark(&unparker);
                parker.park();
            }
        });
        per_operation(elapsed, tokens)
    }
}

/// One of the two always sleeps.
fn ping_pong<P: Parker>(rallies: u64) -> impl FnMut() -> f64 {
    move || {
        let strokes = &AtomicU64::new(0);
        let (to_second, from_first) = mpsc::channel();
        let (to_first, from_second) = mpsc::channel();
        let elapsed = time_together(vec![
            Box::new(move || play::<P>(strokes, 0, rallies, &to_second, &from_second)),
            Box::new(move || play::<P>(strokes, 1, rallies, &to_first, &from_first)),
        ]);
        assert_eq!(strokes.load(Ordering::Relaxed), 2 * rallies);
        per_operation(elapsed, rallies)
    }
}

/// One side: every second stroke, beginning with the one numbered `first`.
///
/// The word says whose turn it is, since std's park may return for no reason.
fn play<P: Parker>(
    strokes: &AtomicU64,
    first: u64,
    rallies: u64,
    to_other: &mpsc::Sender<P::Unparker>,
    from_other: &mpsc::Receiver<P::Unparker>,
) {
    let parker = P::new();
    to_other.send(parker.unparker()).expect("the other plays");
    let other = from_other.recv().expect("the other plays");
    for rally in 0..rallies {
        let stroke = first + 2 * rally;
        while strokes.load(Ordering::Acquire) != stroke {
            parker.park();
        }
        strokes.store(stroke + 1, Ordering::Release);
        P::unpark(&other);
    }
}
