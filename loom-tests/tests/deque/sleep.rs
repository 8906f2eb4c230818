//! An owner that publishes and a thief that goes to sleep see each other. [`Stealer::is_empty`]
//! promises that to a sleeper, and `flush` to a lazy owner that is about to block.
//!
//! The thief announces itself, passes a fence and looks; the owner publishes, passes a fence and
//! looks for announcements. One of the two must see the other. Beside a lazy owner neither needs
//! the fence if the thief's look is [`Stealer::demand`].

use filch_deque::{Lazy, Policy, Stealer, Worker};
use filch_sync::atomic::{AtomicBool, Ordering, fence};
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes};

use crate::{assert_each_once, drain, thief};

/// Two threads: `publish` on one, the thief's last look on the other. Returns whether the owner saw
/// the sleeper, and whether the thief saw items.
fn handshake<P: Policy>(worker: &Worker<u32, P>, publish: impl FnOnce()) -> (bool, bool) {
    let asleep = Arc::new(AtomicBool::new(false));
    let sleeper = thread::spawn({
        let (asleep, stealer): (_, Stealer<u32>) = (Arc::clone(&asleep), worker.stealer());
        move || {
            asleep.store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            !stealer.is_empty()
        }
    });
    publish();
    fence(Ordering::SeqCst);
    let seen = asleep.load(Ordering::Relaxed);
    (seen, sleeper.join().unwrap())
}

/// The outcomes without the one in which neither sees the other: then a task waits, and its thief
/// sleeps.
const EITHER_OR_BOTH: [(bool, bool); 3] = [(true, false), (false, true), (true, true)];

/// Two threads: a strict owner pushes and looks for sleepers. A failure: the owner sees none, and
/// the thief nothing: the item waits, and its thief sleeps.
#[test]
fn a_sleeper_and_a_pusher_see_each_other() {
    Outcomes::of(
        "strict: a push beside a sleeper",
        Bound::exhaustive(15),
        || {
            let worker = Worker::with_capacity(1);
            let seen = handshake(&worker, || worker.push(0));
            assert_eq!(worker.pop(), Some(0));
            seen
        },
    )
    .assert_exactly(EITHER_OR_BOTH);
}

/// Two threads: a lazy owner with three items, two of them private, flushes before it blocks. A
/// failure as above, for the two.
#[test]
fn a_flush_and_a_sleeper_see_each_other() {
    Outcomes::of(
        "lazy: a flush beside a sleeper",
        Bound::exhaustive(15),
        || {
            let worker = Worker::lazy(4);
            worker.push_batch(0..3);
            let stealer = worker.stealer();
            // Take what push_batch has made public: then only private items are left for the flush.
            while stealer.steal().success().is_some() {}
            let seen = handshake(&worker, || worker.flush());
            assert_eq!(worker.pop(), Some(2));
            seen
        },
    )
    .assert_exactly(EITHER_OR_BOTH);
}

/// Two threads: the same without the flush. Then neither sees the other in some execution, so the
/// models above hold because of what they publish.
#[test]
fn without_a_flush_private_items_sleep_too() {
    Outcomes::of(
        "lazy: no flush beside a sleeper",
        Bound::exhaustive(6),
        || {
            let worker = Worker::lazy(4);
            worker.push_batch(0..2);
            assert!(worker.stealer().steal().is_success());
            let seen = handshake(&worker, || ());
            assert_eq!(worker.pop(), Some(1));
            seen
        },
    )
    .assert_exactly([(false, false), (true, false)]);
}

/// A thief that says that it sleeps, and demands more. Whether it saw items.
fn demanding_sleeper(worker: &Worker<u32, Lazy>) -> (Arc<AtomicBool>, thread::JoinHandle<bool>) {
    let asleep = Arc::new(AtomicBool::new(false));
    let sleeper = thread::spawn({
        let (asleep, stealer) = (Arc::clone(&asleep), worker.stealer());
        move || {
            asleep.store(true, Ordering::Relaxed);
            !stealer.demand()
        }
    });
    (asleep, sleeper)
}

/// Two threads: a lazy owner publishes at its first push, and a thief demands something. A failure:
/// the owner sees no sleeper, and the thief nothing.
#[test]
fn a_publication_and_a_demand_see_each_other() {
    Outcomes::of(
        "lazy: a publication beside a demand, without fences",
        Bound::exhaustive(20),
        || {
            let worker = Worker::lazy(4);
            let (asleep, sleeper) = demanding_sleeper(&worker);
            worker.push(0);
            assert!(worker.has_published());
            let seen = asleep.load(Ordering::Relaxed);
            let sees = sleeper.join().unwrap();
            assert_eq!(worker.pop(), Some(0));
            (seen, sees)
        },
    )
    .assert_exactly(EITHER_OR_BOTH);
}

/// Three threads: a thief demands something, and another one takes what the owner publishes then.
/// The owner publishes once more, unasked. A failure: the demand was forgotten with the answer, the
/// owner sees no sleeper at its second publication, and the thief that sleeps saw nothing.
#[test]
fn a_demand_is_remembered_when_another_thief_has_the_answer() {
    Outcomes::of(
        "lazy: two publications beside a demand and a thief",
        Bound::preemptions(2, 1_000),
        || {
            let worker = Worker::lazy(4).with_max_private(0);
            let (asleep, sleeper) = demanding_sleeper(&worker);
            let thief = thief(worker.stealer(), 1);
            worker.push(0);
            worker.push(1);
            assert!(worker.has_published());
            let seen = asleep.load(Ordering::Relaxed);
            let sees = sleeper.join().unwrap();
            let stolen = thief.join().unwrap();
            assert_each_once(2, &[&stolen, &drain(&worker)]);
            (stolen.len(), seen, sees)
        },
    )
    .assert_exactly(
        [0, 1]
            .into_iter()
            .flat_map(|stolen| EITHER_OR_BOTH.map(|(seen, sees)| (stolen, seen, sees))),
    );
}
