//! Sleep and wake-up of one thread: a token that is there already, a ping-pong of two threads, and
//! a ring of eight beside threads that are busy.
//!
//! The ping-pong runs on two cores and on one that both threads share, because a spinner that wins
//! much on two can lose as much on one. These threads are pinned where the system allows it.

use std::hint::{self, black_box};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use crossbeam_utils::Backoff;
use crossbeam_utils::sync::Parker as Crossbeam;
use filch_parker::{AdaptiveSpinner, Parker, Spin};

use crate::clock::{cost, per_operation, pin, time_together, uncontended_rmws};
use crate::harness::Scenario;

/// Ours: `park` of this thread, and `unpark`, for another one.
fn filch() -> (impl Fn(), impl Fn() + Send) {
    let parker = Parker::new();
    let unparker = parker.unparker();
    let unpark = move || {
        black_box(unparker.unpark());
    };
    (move || parker.park(), unpark)
}

fn crossbeam() -> (impl Fn(), impl Fn() + Send) {
    let parker = Crossbeam::new();
    let unparker = parker.unparker().clone();
    (move || parker.park(), move || unparker.unpark())
}

fn smol() -> (impl Fn(), impl Fn() + Send) {
    let (parker, unparker) = parking::pair();
    let unpark = move || {
        black_box(unparker.unpark());
    };
    (move || parker.park(), unpark)
}

/// The parker that std gives every thread.
fn std() -> (impl Fn(), impl Fn() + Send) {
    let thread = thread::current();
    (thread::park, move || thread.unpark())
}

/// Never sleeps: the least that a round trip takes, and a whole core while it waits.
fn spinning() -> (impl Fn(), impl Fn() + Send) {
    (hint::spin_loop, || ())
}

/// The scenario on a machine with more busy threads than cores, and those.
const BESIDE_BUSY: &str = "a ring of eight beside four busy threads";
const BURNERS: usize = 4;

/// A thread's way to wait.
#[derive(Clone, Copy)]
enum Wait {
    /// It sleeps at once.
    AtOnce,
    /// It looks for a while before it sleeps.
    Spinner,
    Backoff,
}

impl Wait {
    /// Waits until `ready`, which becomes true before an `unpark`.
    fn until(self, ready: impl Fn() -> bool, park: &impl Fn()) {
        let (mut spinner, backoff) = (AdaptiveSpinner::new(), Backoff::new());
        while !ready() {
            match self {
                Self::Spinner if spinner.spin() == Spin::Again => continue,
                Self::Spinner => spinner.reset(),
                Self::Backoff if !backoff.is_completed() => {
                    backoff.snooze();
                    continue;
                }
                Self::Backoff => backoff.reset(),
                Self::AtOnce => {}
            }
            park();
        }
    }
}

pub(crate) fn scenarios() -> Vec<Scenario> {
    use Wait::{AtOnce, Backoff, Spinner};
    let tokens = 250_000;
    let rallies = 2500;
    let token_there = Scenario::new("unpark + park, one thread", "ns per token")
        .contender("filch-parker", token(tokens, filch))
        .contender("std park", token(tokens, std))
        .contender("crossbeam Parker", token(tokens, crossbeam))
        .contender("parking", token(tokens, smol))
        .floor("one uncontended RMW", uncontended_rmws(1, tokens));
    let places = [
        (
            "ping-pong, two cores",
            [Some(0), Some(1)].as_slice(),
            rallies,
        ),
        ("ping-pong, one core", &[Some(0), Some(0)], rallies),
        (BESIDE_BUSY, &[None; 8], 25),
    ];
    let relays = places.map(|(name, cores, rallies)| {
        let scenario = Scenario::new(name, "ns per round trip")
            .contender(
                "filch-parker + spinner",
                relay(cores, rallies, Spinner, filch),
            )
            .contender("filch-parker", relay(cores, rallies, AtOnce, filch))
            .contender("std park", relay(cores, rallies, AtOnce, std))
            .contender(
                "crossbeam Parker + Backoff",
                relay(cores, rallies, Backoff, crossbeam),
            )
            .contender("crossbeam Parker", relay(cores, rallies, AtOnce, crossbeam))
            .contender("parking", relay(cores, rallies, AtOnce, smol));
        // Elsewhere it would wait for the end of a time slice each time.
        match cores {
            [Some(0), Some(1)] => scenario.floor(
                "two that only spin",
                relay(cores, rallies, AtOnce, spinning),
            ),
            _ => scenario,
        }
    });
    [token_there].into_iter().chain(relays).collect()
}

/// The token is always there: the parker never sleeps.
fn token<P: Fn(), U: Fn()>(tokens: u64, parker: fn() -> (P, U)) -> impl FnMut() -> f64 {
    move || {
        let (park, unpark) = parker();
        cost(tokens, || {
            for _ in 0..tokens {
                unpark();
                park();
            }
        })
    }
}

/// A token goes round threads on these `cores`, of which all but one wait; those without a core of
/// their own have [busy](BURNERS) ones beside them.
fn relay<P: Fn(), U: Fn() + Send>(
    cores: &'static [Option<usize>],
    rallies: u64,
    how: Wait,
    parker: fn() -> (P, U),
) -> impl FnMut() -> f64 {
    move || {
        let players = cores.len() as u64;
        let strokes = &AtomicU64::new(0);
        // Each has a channel by which it gets the `unpark` of the next one.
        let channels = cores.iter().map(|_| mpsc::channel());
        let (mut to_previous, from_next): (Vec<_>, Vec<_>) = channels.unzip();
        to_previous.rotate_right(1);
        // The word says which one is next, since std's park may return without a token.
        let play =
            move |number: usize, to_previous: mpsc::Sender<U>, from_next: mpsc::Receiver<U>| {
                cores[number].into_iter().for_each(pin);
                let (park, unpark) = parker();
                to_previous.send(unpark).expect("the others play");
                let unpark_next = from_next.recv().expect("the others play");
                for rally in 0..rallies {
                    let stroke = number as u64 + players * rally;
                    how.until(|| strokes.load(Ordering::Acquire) == stroke, &park);
                    strokes.store(stroke + 1, Ordering::Release);
                    unpark_next();
                }
            };
        let mut tasks: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
        for (number, ends) in to_previous.into_iter().zip(from_next).enumerate() {
            tasks.push(Box::new(move || play(number, ends.0, ends.1)));
        }
        let burners = if cores[0].is_none() { BURNERS } else { 0 };
        for _ in 0..burners {
            tasks.push(Box::new(move || {
                while strokes.load(Ordering::Relaxed) < players * rallies {
                    hint::spin_loop();
                }
            }));
        }
        per_operation(time_together(tasks), rallies)
    }
}
