//! The lazy policy: private items, thieves that ask, reclaiming by halves.
//!
//! In each model the owner pushes and pops private items without a trace that thieves could see.
//! The models assert that each item has one taker when the split moves over it, in either
//! direction.

use filch_deque::{Lazy, Worker};
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Crossing, Outcomes, check};

use crate::{
    assert_ascending, assert_descending, assert_each_once, crossing_thief, drain,
    share_three_items, thief,
};

/// Two threads: the owner pushes three items and pops them all; one is public from the first push
/// on. A thief tries twice; with the last public item it asks. A failure: a private or reclaimed
/// item of the owner's that a thief has too.
#[test]
fn owner_and_thief_share_three_items() {
    Outcomes::of(
        "lazy: owner and one thief share three items",
        Bound::preemptions(3, 4_000),
        || {
            let worker = Worker::lazy(4);
            let crossing = Crossing::new();
            let thief = crossing_thief(&crossing, worker.stealer(), 2);
            share_three_items(&worker, thief, || crossing.pass())
        },
    )
    .assert_exactly([vec![], vec![0], vec![0, 1]]);
}

/// Three threads: two thieves beside an owner that pushes two items and pops them all. A failure
/// as above, or an item that two claims cover because the owner lowered and raised the split
/// between them.
#[test]
fn owner_and_two_thieves() {
    Outcomes::of(
        "lazy: owner and two thieves share two items",
        Bound::preemptions(2, 10_000),
        || {
            let worker = Worker::lazy(4);
            let crossing = Crossing::new();
            let first = crossing_thief(&crossing, worker.stealer(), 1);
            let second = crossing_thief(&crossing, worker.stealer(), 1);
            for item in 0..2 {
                worker.push(item);
                crossing.pass();
            }
            let own = drain(&worker);
            let (first, second) = (first.join().unwrap(), second.join().unwrap());
            assert_each_once(2, &[&own, &first, &second]);
            (first.len(), second.len())
        },
    )
    .assert_reached([(0, 0), (1, 0), (0, 1), (1, 1)]);
}

/// Two threads: four public items. The owner's first pop takes two back with one bump, while a
/// thief takes half with one claim, three times. The claims may stop before the lowered split, or
/// have gone past it: then the owner gets less than it asked for, down to nothing. A failure: an
/// item twice, or lost where the split was set back.
#[test]
fn half_is_reclaimed_while_half_is_stolen() {
    Outcomes::of(
        "lazy: reclaim of half against steals of half",
        Bound::preemptions(3, 1_000),
        || {
            let worker = Worker::lazy(4);
            let stealer = worker.stealer();
            let later = worker.stealer();
            worker.push_batch(0..4);
            worker.flush();
            let crossing = Crossing::new();
            let thief = thread::spawn({
                let crossing = crossing.clone();
                move || {
                    let mut loot = Vec::new();
                    for _ in 0..3 {
                        crossing.pass();
                        let mut others = Vec::new();
                        loot.extend(stealer.steal_half_into_vec(&mut others, 8).success());
                        loot.append(&mut others);
                    }
                    loot
                }
            });
            crossing.pass();
            let first = worker.pop();
            let mut stolen = thief.join().unwrap();
            let taken = stolen.len();
            let late = later.steal();
            assert!(!late.is_retry(), "the split was left behind");
            stolen.extend(late.success());
            assert_ascending(&stolen);
            let mut own: Vec<_> = first.into_iter().collect();
            own.extend(drain(&worker));
            assert_descending(&own);
            assert_each_once(4, &[&own, &stolen]);
            (first, taken)
        },
    )
    .assert_exactly([(Some(3), 2), (Some(3), 3), (None, 4)]);
}

/// Two threads: the owner reclaims the last public item while a thief claims it. This is the strict
/// deque's race at the last item, through the lazy owner's pop.
#[test]
fn the_last_public_item_has_one_taker() {
    Outcomes::of(
        "lazy: the last public item has one taker",
        Bound::exhaustive(70),
        || {
            let worker = Worker::lazy(1);
            let stolen = thief(worker.stealer(), 1);
            worker.push(0);
            worker.flush();
            let popped = worker.pop();
            let stolen = stolen.join().unwrap();
            assert_eq!(worker.pop(), None);
            (popped, stolen)
        },
    )
    .assert_exactly([(Some(0), vec![]), (None, vec![0])]);
}

/// Two threads: a thief has taken what was public, and thereby asked for the private item. The
/// owner pops that, and pushes another one, which must be in reach: of the thief beside it, if that
/// looks late enough. A failure: a request that no push answers, and a thief that starves beside a
/// full deque.
#[test]
fn a_request_is_answered() {
    Outcomes::of("lazy: a request is answered", Bound::exhaustive(20), || {
        let worker = Worker::lazy(4);
        let stealer = worker.stealer();
        worker.push_batch(0..2);
        let first = thread::spawn(move || ([stealer.steal(), stealer.steal()], stealer));
        let ([taken, refused], stealer) = first.join().unwrap();
        assert_eq!(taken.success(), Some(0));
        assert!(refused.is_empty(), "a private item was public");
        let thief = thread::spawn(move || stealer.steal().success());
        assert_eq!(worker.pop(), Some(1));
        worker.push(2);
        let stolen = thief.join().unwrap();
        (stolen, drain(&worker))
    })
    .assert_exactly([(Some(2), vec![]), (None, vec![2])]);
}

/// Two threads: a thief takes the last public item, twice if the owner answers in between, and asks
/// in the same call. The owner publishes again at its next push. A failure: a request that the
/// owner erased while it answered the one before, and a later thief that finds nothing beside a
/// private part that grows.
#[test]
fn taking_the_last_public_item_asks_for_more() {
    Outcomes::of(
        "lazy: the last taker asks for more",
        Bound::exhaustive(100),
        || {
            let worker = Worker::lazy(4);
            let later = worker.stealer();
            worker.push(0);
            worker.push(1);
            let crossing = Crossing::new();
            let thief = crossing_thief(&crossing, worker.stealer(), 2);
            crossing.pass();
            worker.push(2);
            crossing.pass();
            let stolen = thief.join().unwrap();
            worker.push(3);
            let next = later.steal().success();
            assert_eq!(next, Some(stolen.len() as u32), "a lost request");
            let next: Vec<_> = next.into_iter().collect();
            assert_each_once(4, &[&stolen, &next, &drain(&worker)]);
            stolen
        },
    )
    .assert_exactly([vec![0], vec![0, 1]]);
}

/// Two threads: a thief takes the only item, and is slow to ask for more. The owner has found that
/// it is gone, and pushes another one. A failure: the owner knows that nothing is public, and hides
/// what it pushes.
#[test]
fn what_follows_a_stolen_item_is_in_reach() {
    Outcomes::of(
        "lazy: a push after a pop that came too late",
        Bound::exhaustive(20),
        || {
            let worker = Worker::lazy(4);
            worker.push(0);
            let stolen = thief(worker.stealer(), 1);
            let popped = worker.pop();
            worker.push(1);
            if popped.is_none() {
                assert_eq!(worker.stealer().len(), 1, "nothing is in reach");
            }
            let stolen = stolen.join().unwrap();
            (popped, stolen, drain(&worker))
        },
    )
    .assert_reached([(Some(0), vec![], vec![1]), (None, vec![0], vec![1])]);
}

/// Two threads: a thief takes the public item, and demands more if it finds none then, while the
/// owner goes the long way for a reason of its own. A failure: the owner overwrites the demand, and
/// its next push leaves everything private beside a thief that sleeps.
#[test]
fn a_demand_is_answered() {
    Outcomes::of(
        "lazy: a demand is answered",
        Bound::preemptions(2, 500),
        || {
            let worker = Worker::lazy(4);
            worker.push(0);
            worker.push(1);
            let later = worker.stealer();
            let stealer = worker.stealer();
            let crossing = Crossing::new();
            let thief = thread::spawn({
                let crossing = crossing.clone();
                move || {
                    crossing.pass();
                    let stolen = stealer.steal().success();
                    crossing.pass();
                    (stolen, stealer.demand())
                }
            });
            crossing.pass();
            worker.flush();
            crossing.pass();
            let popped = worker.pop();
            worker.push(2);
            let (stolen, demanded) = thief.join().unwrap();
            worker.push(3);
            let next = later.steal().success();
            assert!(next.is_some(), "a lost demand");
            let others: Vec<_> = popped.into_iter().chain(stolen).chain(next).collect();
            assert_each_once(4, &[&others, &drain(&worker)]);
            (stolen, demanded)
        },
    )
    .assert_reached([(Some(0), true), (Some(0), false)]);
}

/// Two threads: the owner nests three items and takes them back unread, by position, while a thief
/// takes what it finds, twice. A failure: an item that both have, or neither; or a slot that is
/// written while the thief reads it.
#[test]
fn a_nested_item_is_taken_back_or_stolen() {
    Outcomes::of(
        "lazy: nested items, taken back or stolen",
        Bound::preemptions(2, 1_000),
        || {
            let worker = Worker::lazy(4);
            let crossing = Crossing::new();
            let thief = crossing_thief(&crossing, worker.stealer(), 2);
            let positions = [0, 1, 2].map(|item| {
                let position = worker.position();
                // SAFETY: it is the position of now.
                if !unsafe { worker.try_push_at(position, item) } {
                    worker.push(item);
                }
                crossing.pass();
                position
            });
            let mut own = Vec::new();
            for item in [2, 1, 0] {
                // SAFETY: what was pushed after this item has been taken back, or stolen.
                if unsafe { worker.try_take_back(positions[item as usize]) } || worker.take_back() {
                    own.push(item);
                }
                crossing.pass();
            }
            let stolen = thief.join().unwrap();
            assert_each_once(3, &[&own, &stolen]);
            stolen
        },
    )
    .assert_reached([vec![], vec![0]]);
}

/// Two threads: `flush` makes everything public at once. A thief that takes until nothing is there
/// takes all, or, if it looks before, what was public then. A failure: an item that is seen before
/// it was written, or an order that is broken.
#[test]
fn flush_shows_everything() {
    Outcomes::of("lazy: flush", Bound::preemptions(4, 1_000), || {
        let worker = Worker::lazy(4);
        let stolen = thief(worker.stealer(), 2);
        worker.push(0);
        worker.push(1);
        worker.flush();
        let stolen = stolen.join().unwrap();
        assert_ascending(&stolen);
        assert_each_once(2, &[&stolen, &drain(&worker)]);
        stolen
    })
    .assert_exactly([vec![], vec![0], vec![0, 1]]);
}

/// Two threads: the ring grows from one slot to four while the owner has private items and a thief
/// takes. The new ring must be offered up to the split, not up to bottom, and the thief's claim of
/// the old one must count there. A failure: an item twice (published by the replacement, and popped
/// as private), or a read of a freed ring.
#[test]
fn a_lazy_ring_grows_under_a_thief() {
    check(
        "lazy: growth from 1 to 4",
        Bound::preemptions(2, 1_000),
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
        Bound::preemptions(2, 1_000),
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

/// Three threads: a lazy owner is dropped with public and private items left, while two thieves are
/// in the middle of their steals. Every item is dropped once. A failure: a leak, a double drop, or
/// an item after the owner's end.
#[test]
fn a_lazy_owner_goes_with_items_left() {
    check(
        "lazy: worker dropped with thieves in flight",
        Bound::preemptions(1, 500),
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

/// Counts its drop. A leak of its loom object fails the model.
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
