//! The shipped deque, biased towards its owner, and threads that sleep until they are told, one for
//! each answer of the owner's; with a step left out that one of them owes the others.

use filch_deque::{Request, Steal, Stealer, Worker};
use filch_models::Bound;
use filch_sync::atomic::{AtomicBool, Ordering};
use filch_sync::{Arc, thread};

const SYMPTOM: &str = "asleep beside an item";

/// The step that is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// A thread that was told takes what it has found, and thinks of no other one that sleeps.
    AnswerKept,
    /// It tells another one if there is more, and asks nothing in the place of those that sleep on.
    NotAskedAgain,
    /// An owner whose answer comes when the item is gone does not care whom it was for.
    LateAnswerForgotten,
    /// A thread that gives its place away, to sleep in, asks all deques but its own.
    OwnNotAsked,
}

/// An empty deque that is its owner's, and of which nothing is to be told.
fn biased() -> Worker<u32> {
    let worker = Worker::biased(4);
    worker.push(9);
    assert!(worker.was_asked());
    assert_eq!(worker.pop(), Some(9));
    worker
}

/// Asks, and goes without the answer: for a thread that has said that it sleeps.
fn ask(stealer: &Stealer<u32>) {
    if let Some(request) = stealer.ask() {
        Request::revoke_all(&[request]).unwrap();
    }
}

fn has_shared(stealer: &Stealer<u32>) -> bool {
    stealer.is_shared() && !stealer.is_empty()
}

fn steal_surely(stealer: &Stealer<u32>) -> Option<u32> {
    loop {
        match stealer.steal() {
            Steal::Retry => thread::yield_now(),
            answer => return answer.success(),
        }
    }
}

/// Some threads of which each sleeps while its flag is up.
#[derive(Clone)]
struct Asleep(Arc<[AtomicBool; 2]>);

impl Asleep {
    fn new(flags: [bool; 2]) -> Self {
        let asleep = std::array::from_fn(|thread| AtomicBool::new(flags[thread]));
        Self(Arc::new(asleep))
    }

    /// Says that a thread is about to sleep.
    fn announce(&self, thread: usize) {
        // ORDERING: Relaxed, here and below: the deque orders it.
        self.0[thread].store(true, Ordering::Relaxed);
    }

    /// Tells one that sleeps, and says which.
    fn tell_one(&self) -> Option<usize> {
        let told = |flag: &AtomicBool| flag.swap(false, Ordering::Relaxed);
        self.0.iter().position(told)
    }

    fn is_asleep(&self, thread: usize) -> bool {
        self.0[thread].load(Ordering::Relaxed)
    }
}

/// Pushes, tells one that sleeps if that is due, and says which.
fn push(bug: Bug, worker: &Worker<u32>, asleep: &Asleep, item: u32) -> Option<usize> {
    worker.push(item);
    if !worker.was_asked() {
        return None;
    }
    if worker.is_empty() {
        if bug != Bug::LateAnswerForgotten {
            // In the place of whoever has taken it, and may sleep by now.
            _ = worker.stealer().ask();
        }
        return None;
    }
    asleep.tell_one()
}

/// Two threads: two thieves sleep, and have asked. The owner pushes two items: the first one's
/// answer goes to one of the two, which takes it. The other one is to hear of the second.
#[test]
fn one_of_two_is_told() {
    Bound::exhaustive(980).check_and_refute(
        "told: one of two sleepers, beside a second push",
        |bug| {
            let worker = biased();
            let asleep = Asleep::new([true; 2]);
            ask(&worker.stealer());
            assert_eq!(push(bug, &worker, &asleep, 0), Some(0));
            let told = thread::spawn({
                let (stealer, asleep) = (worker.stealer(), asleep.clone());
                move || {
                    assert_eq!(steal_surely(&stealer), Some(0));
                    let leaves_some = bug != Bug::AnswerKept
                        && (has_shared(&stealer)
                            || bug != Bug::NotAskedAgain
                                && (stealer.ask().is_some() || has_shared(&stealer)));
                    if leaves_some {
                        asleep.tell_one();
                    }
                }
            });
            push(bug, &worker, &asleep, 1);
            told.join().unwrap();
            assert!(!asleep.is_asleep(1), "{SYMPTOM}");
        },
        &[
            // The answer has taken down what both had asked.
            (Bug::AnswerKept, SYMPTOM),
            // The second item comes after its look.
            (Bug::NotAskedAgain, SYMPTOM),
        ],
    );
}

/// Two threads: the owner pushes two items, and tells of each if that is due. A thief takes one if
/// it finds one, and goes to sleep.
#[test]
fn a_thief_comes_and_sleeps() {
    Bound::exhaustive(9_600).check_and_refute(
        "told: an answer beside a thief that has taken the item",
        |bug| {
            let worker = Worker::biased(4);
            let asleep = Asleep::new([false; 2]);
            let thief = thread::spawn({
                let (stealer, asleep) = (worker.stealer(), asleep.clone());
                move || {
                    steal_surely(&stealer);
                    asleep.announce(0);
                    ask(&stealer);
                    has_shared(&stealer)
                }
            });
            for item in 0..2 {
                push(bug, &worker, &asleep, item);
            }
            let sees = thief.join().unwrap();
            assert!(!worker.is_empty());
            assert!(sees || !asleep.is_asleep(0), "{SYMPTOM}");
        },
        // The thief takes the item before the owner has answered, asks again, and sleeps. The
        // answer takes that down as well, and there is nothing to tell of; the next push tells
        // nobody.
        &[(Bug::LateAnswerForgotten, SYMPTOM)],
    );
}

/// Two threads: the owner is about to block. It gives its place away, which by its own look has
/// nothing to do and sleeps; then it forks in the call. Another thread comes by once.
#[test]
fn a_push_in_a_call_that_blocks() {
    Bound::exhaustive(800).check_and_refute(
        "told: a push in a call that blocks",
        |bug| {
            let worker = biased();
            let asleep = Asleep::new([false; 2]);
            let stealer = worker.stealer();
            let thief = thread::spawn(move || steal_surely(&stealer).is_some());
            worker.share();
            asleep.announce(0);
            let own = worker.stealer();
            if bug != Bug::OwnNotAsked {
                ask(&own);
            }
            assert!(!has_shared(&own));
            push(bug, &worker, &asleep, 0);
            let is_stolen = thief.join().unwrap();
            assert!(is_stolen || !asleep.is_asleep(0), "{SYMPTOM}");
        },
        // It keeps nothing to itself now, but what it pushes later it tells to nobody who has not
        // asked.
        &[(Bug::OwnNotAsked, SYMPTOM)],
    );
}
