//! The lazy policy: private items, hungry thieves, reclaiming by halves.
//!
//! In each model the owner's own items come and go without a trace that thieves could see; what is
//! asserted is that the crossing of the split, in both directions, gives every item one taker.
//!
//! [`Steps`] are for loom: it remembers one last access per object, and so does not see every place
//! where it would have to switch threads. A Relaxed addition to a counter of the model's own orders
//! nothing, and is such a place.

use filch_deque::{Lazy, Stealer, Worker};
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes, check};

use crate::{assert_ascending, assert_each_once, drain, thief};

/// Places to switch threads.
#[derive(Clone)]
struct Steps(Arc<AtomicUsize>);

impl Steps {
    fn new() -> Self {
        Self(Arc::new(AtomicUsize::new(0)))
    }

    fn step(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// A thief that takes a step before each of its attempts.
    fn thief(&self, stealer: Stealer<u32>, attempts: usize) -> thread::JoinHandle<Vec<u32>> {
        let steps = self.clone();
        thread::spawn(move || {
            let attempt = |_| {
                steps.step();
                stealer.steal().success()
            };
            (0..attempts).filter_map(attempt).collect()
        })
    }
}

/// Two threads: the owner pushes three items and pops them all, one of them public from the second
/// push on; a thief tries twice, and its first failure makes it hungry. A failure: an item that the
/// owner took as its own, or reclaimed, and that a thief has too.
#[test]
fn owner_and_hungry_thief_share_three_items() {
    let outcomes = Outcomes::new();
    check(
        "lazy: owner and one thief share three items",
        Bound::preemptions(3, 4_000),
        {
            let outcomes = outcomes.clone();
            move || {
                let worker = Worker::lazy(4);
                let steps = Steps::new();
                let stolen = steps.thief(worker.stealer(), 2);
                for item in 0..3 {
                    worker.push(item);
                    steps.step();
                }
                let own = drain(&worker);
                let stolen = stolen.join().unwrap();
                assert_each_once(3, &[&own, &stolen]);
                assert_ascending(&stolen);
                assert!(own.is_sorted_by(|a, b| a > b), "the owner's order: {own:?}");
                outcomes.observe(stolen);
            }
        },
    );
    outcomes.assert_exactly([vec![], vec![0], vec![0, 1]]);
}

/// Three threads: two thieves beside an owner that pushes three and pops them all. A failure as
/// above, or an item that two claims cover because the owner lowered and raised the split between
/// them.
#[test]
fn owner_and_two_hungry_thieves() {
    let outcomes = Outcomes::new();
    check(
        "lazy: owner and two thieves share three items",
        Bound::preemptions(2, 15_900),
        {
            let outcomes = outcomes.clone();
            move || {
                let worker = Worker::lazy(4);
                let steps = Steps::new();
                let first = steps.thief(worker.stealer(), 1);
                let second = steps.thief(worker.stealer(), 1);
                for item in 0..3 {
                    worker.push(item);
                    steps.step();
                }
                let own = drain(&worker);
                let (first, second) = (first.join().unwrap(), second.join().unwrap());
                assert_each_once(3, &[&own, &first, &second]);
                outcomes.observe((first.len(), second.len()));
            }
        },
    );
    outcomes.assert_reached([(0, 0), (1, 0), (0, 1), (1, 1)]);
}

/// Two threads: four public items, of which the owner's first pop takes back two with one bump,
/// while a thief takes half with one claim, three times. The claims may stop before the lowered
/// split, or have gone past it: then the owner gets less than it asked for, down to nothing. A
/// failure: an item twice, or lost where the split was set back.
#[test]
fn half_is_reclaimed_while_half_is_stolen() {
    let outcomes = Outcomes::new();
    check(
        "lazy: reclaim of half against steals of half",
        Bound::exhaustive(5_500),
        {
            let outcomes = outcomes.clone();
            move || {
                let worker = Worker::lazy(4);
                let stealer = worker.stealer();
                let later = worker.stealer();
                worker.push_batch(0..4);
                worker.flush();
                let steps = Steps::new();
                let pace = steps.clone();
                let thief = thread::spawn(move || {
                    let mut loot = Vec::new();
                    for _ in 0..3 {
                        pace.step();
                        let mut others = Vec::new();
                        loot.extend(stealer.steal_half_into_vec(&mut others, 8).success());
                        loot.append(&mut others);
                    }
                    loot
                });
                steps.step();
                let first = worker.pop();
                let mut stolen = thief.join().unwrap();
                let taken = stolen.len();
                let late = later.steal();
                assert!(!late.is_retry(), "the split was left behind");
                stolen.extend(late.success());
                assert_ascending(&stolen);
                let mut own: Vec<_> = first.into_iter().collect();
                own.extend(drain(&worker));
                assert!(own.is_sorted_by(|a, b| a > b), "the owner's order: {own:?}");
                assert_each_once(4, &[&own, &stolen]);
                outcomes.observe((first, taken));
            }
        },
    );
    outcomes.assert_exactly([(Some(3), 2), (Some(3), 3), (None, 4)]);
}

/// Two threads: the owner reclaims the last public item while a thief claims it. The strict deque's
/// race at the last item, through the lazy owner's pop.
#[test]
fn the_last_public_item_has_one_taker() {
    let outcomes = Outcomes::new();
    check(
        "lazy: the last public item has one taker",
        Bound::exhaustive(70),
        {
            let outcomes = outcomes.clone();
            move || {
                let worker = Worker::lazy(1);
                let stolen = thief(worker.stealer(), 1);
                worker.push(0);
                worker.flush();
                let popped = worker.pop();
                let stolen = stolen.join().unwrap();
                assert_eq!(worker.pop(), None);
                outcomes.observe((popped, stolen));
            }
        },
    );
    outcomes.assert_exactly([(Some(0), vec![]), (None, vec![0])]);
}

/// Two threads: a thief finds nothing public, and the owner holds one item of its own. Whatever the
/// owner does next answers the thief that was heard: a push, here. `answered` is set after the
/// push; a thief whose first attempt was before the push, and whose second is after it, must not
/// find the deque empty again. A failure: a flag that nobody answers, a thief that starves beside a
/// full deque.
#[test]
fn a_hungry_thief_is_answered() {
    let outcomes = Outcomes::new();
    check("lazy: a request is answered", Bound::exhaustive(20), {
        let outcomes = outcomes.clone();
        move || {
            let worker = Worker::lazy(4);
            let stealer = worker.stealer();
            worker.push(0);
            let first = thread::spawn(move || (stealer.steal(), stealer));
            let (refused, stealer) = first.join().unwrap();
            assert!(refused.is_empty(), "one private item is nobody's business");
            let thief = thread::spawn(move || stealer.steal().success());
            assert_eq!(worker.pop(), Some(0));
            worker.push(1);
            let stolen = thief.join().unwrap();
            let rest = drain(&worker);
            outcomes.observe((stolen, rest));
        }
    });
    outcomes.assert_exactly([(Some(1), vec![]), (None, vec![1])]);
}

/// Two threads: a thief takes the last public item, twice if the owner answers in between, and says
/// so in the same call: it is hungry before it comes back. The owner publishes again at its next
/// push. A failure: a request that the owner erased while it answered the one before, and a later
/// thief that finds nothing beside a private part that grows.
#[test]
fn taking_the_last_public_item_asks_for_more() {
    let outcomes = Outcomes::new();
    check(
        "lazy: the last taker asks for more",
        Bound::exhaustive(100),
        {
            let outcomes = outcomes.clone();
            move || {
                let worker = Worker::lazy(4);
                let later = worker.stealer();
                worker.push(0);
                worker.push(1);
                let steps = Steps::new();
                let thief = steps.thief(worker.stealer(), 2);
                steps.step();
                worker.push(2);
                steps.step();
                let stolen = thief.join().unwrap();
                worker.push(3);
                let next = later.steal().success();
                assert_eq!(next, Some(stolen.len() as u32), "a lost request");
                let next: Vec<_> = next.into_iter().collect();
                assert_each_once(4, &[&stolen, &next, &drain(&worker)]);
                outcomes.observe(stolen);
            }
        },
    );
    outcomes.assert_exactly([vec![0], vec![0, 1]]);
}

/// Two threads: `flush` shows everything at once: a thief that takes until nothing is there takes
/// all or, if it looks before, what was public then. A failure: an item that is seen before it was
/// written, or order lost.
#[test]
fn flush_shows_everything() {
    let outcomes = Outcomes::new();
    check("lazy: flush", Bound::exhaustive(270), {
        let outcomes = outcomes.clone();
        move || {
            let worker = Worker::lazy(4);
            let stolen = thief(worker.stealer(), 2);
            worker.push(0);
            worker.push(1);
            worker.flush();
            let stolen = stolen.join().unwrap();
            assert_ascending(&stolen);
            assert_each_once(2, &[&stolen, &drain(&worker)]);
            outcomes.observe(stolen);
        }
    });
    outcomes.assert_exactly([vec![], vec![0], vec![0, 1]]);
}

/// Two threads: the ring grows from one slot to four while the owner has private items and a thief
/// takes. The new ring must be offered up to the split, not up to bottom, and the thief's claim of
/// the old one must count there. A failure: an item twice (published by the replacement, and popped
/// as private), or a read of a freed ring.
#[test]
fn a_lazy_ring_grows_under_a_thief() {
    check(
        "lazy: growth from 1 to 4",
        Bound::preemptions(3, 33_000),
        || {
            let worker = Worker::lazy_starting_at(1, u32::MAX);
            let stolen = thief(worker.stealer(), 2);
            for item in 0..3 {
                worker.push(item);
            }
            let own: Vec<_> = worker.pop().into_iter().collect();
            let stolen = stolen.join().unwrap();
            assert_ascending(&stolen);
            assert_each_once(3, &[&own, &stolen, &drain(&worker)]);
        },
    );
}

/// Two threads: slots that were private, public, reclaimed and written again, while a thief is
/// between its look and its claim. A failure: a causality violation in the slot, or an item twice.
#[test]
fn a_reclaimed_slot_is_written_again() {
    check(
        "lazy: reclaim, then push to the same slots",
        Bound::preemptions(3, 4_400),
        || {
            let worker: Worker<u32, Lazy> = Worker::lazy(2);
            let stolen = thief(worker.stealer(), 2);
            let mut own = Vec::new();
            worker.push_batch(0..2);
            worker.flush();
            own.extend(worker.pop());
            worker.push(2);
            own.extend(worker.pop());
            worker.push(3);
            let stolen = stolen.join().unwrap();
            assert_each_once(4, &[&own, &stolen, &drain(&worker)]);
        },
    );
}

/// Two threads: a batch into a strict deque appears at once. A thief that got the first item of
/// three finds the second: the batch was not published piece by piece. A failure: emptiness in the
/// middle of a batch.
#[test]
fn a_batch_is_published_at_once() {
    let outcomes = Outcomes::new();
    check("a batch appears at once", Bound::exhaustive(15), {
        let outcomes = outcomes.clone();
        move || {
            let worker = Worker::with_capacity(4);
            let stealer = worker.stealer();
            let thief = thread::spawn(move || {
                let loot: Vec<_> = (0..3).filter_map(|_| stealer.steal().success()).collect();
                loot
            });
            worker.push_batch(0..3);
            let stolen = thief.join().unwrap();
            assert_ascending(&stolen);
            assert_each_once(3, &[&stolen, &drain(&worker)]);
            outcomes.observe(stolen.len());
        }
    });
    // Attempts fail before the batch is there, never after.
    outcomes.assert_exactly([0, 1, 2, 3]);
}

/// Three threads: a lazy owner goes with public and private items left, while two thieves are in
/// the middle of their steals. Every item ends once. A failure: a leak, a double drop, or an item
/// after the owner's end.
#[test]
fn a_lazy_owner_goes_with_items_left() {
    check(
        "lazy: worker dropped with thieves in flight",
        Bound::preemptions(2, 10_500),
        || {
            let ends = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
            let worker = Worker::lazy(2);
            let thieves = [worker.stealer(), worker.stealer()]
                .map(|stealer| thread::spawn(move || drop(stealer.steal())));
            for _ in 0..2 {
                worker.push(Counted(ends.clone(), Arc::new(AtomicUsize::new(0))));
            }
            let stealer = worker.stealer();
            drop(worker);
            assert!(stealer.steal().is_empty(), "an item after the owner's end");
            for thief in thieves {
                thief.join().unwrap();
            }
            assert_eq!(ends.load(Ordering::Relaxed), 2, "each item ends once");
        },
    );
}

/// Counts its end; a leak of its loom object fails the model.
struct Counted(
    std::sync::Arc<std::sync::atomic::AtomicUsize>,
    Arc<AtomicUsize>,
);

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
