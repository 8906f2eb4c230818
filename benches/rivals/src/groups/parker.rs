//! Sleep and wake-up of one thread: a token that is there already, and a ping-pong of two threads.
//!
//! The ping-pong runs on two cores and on one that both threads share, because a spinner that wins
//! much on two can lose as much on one. The threads are pinned where the system allows it.

use std::hint::{self, black_box};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use crossbeam_utils::Backoff;
use crossbeam_utils::sync::Parker as Crossbeam;
use filch_parker::{AdaptiveSpinner, Parker, Spin};

use crate::clock::{cost, per_operation, pin, time_together, uncontended_rmws};
use crate::harness::{Effort, Scenario};

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

/// The parker that std gives every thread.
fn std() -> (impl Fn(), impl Fn() + Send) {
    let thread = thread::current();
    (thread::park, move || thread.unpark())
}

/// Never sleeps: the least that a round trip takes, and a whole core while it waits.
fn spinning() -> (impl Fn(), impl Fn() + Send) {
    (hint::spin_loop, || ())
}

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

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    use Wait::{AtOnce, Backoff, Spinner};
    let tokens = effort.operations(2_000_000);
    let rallies = effort.operations(20_000);
    let token_there = Scenario::new("unpark + park, one thread", "ns per token")
        .contender("filch-parker", token(tokens, filch))
        .contender("std park", token(tokens, std))
        .contender("crossbeam Parker", token(tokens, crossbeam))
        .floor("one uncontended RMW", uncontended_rmws(1, tokens));
    let ping_pongs = [("two cores", [0, 1]), ("one core", [0, 0])].map(|(where_, cores)| {
        let name = format!("ping-pong, {where_}");
        let scenario = Scenario::new(name, "ns per round trip")
            .contender(
                "filch-parker + spinner",
                ping_pong(cores, rallies, Spinner, filch),
            )
            .contender("filch-parker", ping_pong(cores, rallies, AtOnce, filch))
            .contender("std park", ping_pong(cores, rallies, AtOnce, std))
            .contender(
                "crossbeam Parker + Backoff",
                ping_pong(cores, rallies, Backoff, crossbeam),
            )
            .contender(
                "crossbeam Parker",
                ping_pong(cores, rallies, AtOnce, crossbeam),
            );
        // On one core it would wait for the end of a time slice each time.
        match cores {
            [0, 0] => scenario,
            _ => scenario.floor(
                "two that only spin",
                ping_pong(cores, rallies, AtOnce, spinning),
            ),
        }
    });
    [token_there].into_iter().chain(ping_pongs).collect()
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

/// Two threads, of which one always waits, on `cores`.
fn ping_pong<P: Fn(), U: Fn() + Send>(
    [first, second]: [usize; 2],
    rallies: u64,
    how: Wait,
    parker: fn() -> (P, U),
) -> impl FnMut() -> f64 {
    move || {
        let strokes = &AtomicU64::new(0);
        let (to_second, from_first) = mpsc::channel();
        let (to_first, from_second) = mpsc::channel();
        // One side: every second stroke, beginning with the one numbered `first`. The word says
        // which side is next, since std's park may return without a token.
        let play = move |core, first, to_other: mpsc::Sender<U>, from_other: mpsc::Receiver<U>| {
            pin(core);
            let (park, unpark) = parker();
            to_other.send(unpark).expect("the other plays");
            let unpark_other = from_other.recv().expect("the other plays");
            for rally in 0..rallies {
                let stroke = first + 2 * rally;
                how.until(|| strokes.load(Ordering::Acquire) == stroke, &park);
                strokes.store(stroke + 1, Ordering::Release);
                unpark_other();
            }
        };
        let elapsed = time_together(vec![
            Box::new(move || play(first, 0, to_second, from_second)),
            Box::new(move || play(second, 1, to_first, from_first)),
        ]);
        assert_eq!(strokes.load(Ordering::Relaxed), 2 * rallies);
        per_operation(elapsed, rallies)
    }
}
