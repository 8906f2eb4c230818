//! Sleep and wake-up of one thread: a token that is there already, and a ping-pong of two threads.
//!
//! The ping-pong runs on two cores and on one that both threads share, because a spinner that wins
//! much on two can lose as much on one. The threads are pinned where the system allows it.

use std::hint::{self, black_box};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::{self, Thread};

use crossbeam_utils::Backoff;
use filch_parker::{AdaptiveSpinner, Spin};

use crate::floor::uncontended_rmws;
use crate::harness::{Effort, Scenario, per_operation, pin, time, time_together};

/// What the scenarios need from a parker.
trait Parker: Sized {
    type Unparker: Send;

    /// For the calling thread.
    fn new() -> Self;
    fn unparker(&self) -> Self::Unparker;
    fn park(&self);
    fn unpark(unparker: &Self::Unparker);

    /// Waits until `ready`, which becomes true before an `unpark`.
    fn wait(&self, ready: impl Fn() -> bool) {
        while !ready() {
            self.park();
        }
    }
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

/// The parker that std gives every thread.
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

/// Never sleeps: the least that a round trip takes, and a whole core while it waits.
struct Spinning;

impl Parker for Spinning {
    type Unparker = ();

    fn new() -> Self {
        Self
    }

    fn unparker(&self) {}

    fn park(&self) {
        hint::spin_loop();
    }

    fn unpark((): &()) {}
}

/// Looks for a while before a parker sleeps.
trait Spinner {
    fn new() -> Self;
    /// Waits for one round. `false` if it is time to block: then it starts over.
    fn spin(&mut self) -> bool;
}

impl Spinner for AdaptiveSpinner {
    fn new() -> Self {
        Self::new()
    }

    fn spin(&mut self) -> bool {
        let again = self.spin() == Spin::Again;
        if !again {
            self.reset();
        }
        again
    }
}

impl Spinner for Backoff {
    fn new() -> Self {
        Self::new()
    }

    fn spin(&mut self) -> bool {
        let again = !self.is_completed();
        if again {
            self.snooze();
        } else {
            self.reset();
        }
        again
    }
}

/// The parker `P`, which sleeps only when the spinner `S` has spent its rounds.
struct Behind<S, P>(P, PhantomData<S>);

impl<S: Spinner, P: Parker> Parker for Behind<S, P> {
    type Unparker = P::Unparker;

    fn new() -> Self {
        Self(P::new(), PhantomData)
    }

    fn unparker(&self) -> P::Unparker {
        self.0.unparker()
    }

    fn park(&self) {
        self.0.park();
    }

    fn unpark(unparker: &P::Unparker) {
        P::unpark(unparker);
    }

    fn wait(&self, ready: impl Fn() -> bool) {
        let mut spinner = S::new();
        while !ready() {
            if !spinner.spin() {
                self.park();
            }
        }
    }
}

type Filch = filch_parker::Parker;
type Crossbeam = crossbeam_utils::sync::Parker;

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let tokens = effort.operations(2_000_000);
    let rallies = effort.operations(20_000);
    vec![
        Scenario::new("unpark + park, one thread", "ns per token")
            .contender("filch-parker", token::<Filch>(tokens))
            .contender("std park", token::<Std>(tokens))
            .contender("crossbeam Parker", token::<Crossbeam>(tokens))
            .floor("one uncontended RMW", uncontended_rmws(1, tokens)),
        // On one core it would wait for the end of a time slice each time.
        ping_pong_between("ping-pong, two cores", [0, 1], rallies)
            .floor("two that only spin", ping_pong::<Spinning>([0, 1], rallies)),
        ping_pong_between("ping-pong, one core", [0, 0], rallies),
    ]
}

/// The token is always there: the parker never sleeps.
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

/// Two threads, of which one always waits, on `cores`.
fn ping_pong_between(name: &'static str, cores: [usize; 2], rallies: u64) -> Scenario {
    Scenario::new(name, "ns per round trip")
        .contender(
            "filch-parker + spinner",
            ping_pong::<Behind<AdaptiveSpinner, Filch>>(cores, rallies),
        )
        .contender("filch-parker", ping_pong::<Filch>(cores, rallies))
        .contender("std park", ping_pong::<Std>(cores, rallies))
        .contender(
            "crossbeam Parker + Backoff",
            ping_pong::<Behind<Backoff, Crossbeam>>(cores, rallies),
        )
        .contender("crossbeam Parker", ping_pong::<Crossbeam>(cores, rallies))
}

fn ping_pong<P: Parker>([first, second]: [usize; 2], rallies: u64) -> impl FnMut() -> f64 {
    move || {
        let strokes = &AtomicU64::new(0);
        let (to_second, from_first) = mpsc::channel();
        let (to_first, from_second) = mpsc::channel();
        let elapsed = time_together(vec![
            Box::new(move || {
                pin(first);
                play::<P>(strokes, 0, rallies, &to_second, &from_second);
            }),
            Box::new(move || {
                pin(second);
                play::<P>(strokes, 1, rallies, &to_first, &from_first);
            }),
        ]);
        assert_eq!(strokes.load(Ordering::Relaxed), 2 * rallies);
        per_operation(elapsed, rallies)
    }
}

/// One side: every second stroke, beginning with the one numbered `first`.
///
/// The word says which side is next, since std's park may return without a token.
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
        parker.wait(|| strokes.load(Ordering::Acquire) == stroke);
        strokes.store(stroke + 1, Ordering::Release);
        P::unpark(&other);
    }
}
