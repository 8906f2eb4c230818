//! Claims against pops and against each other.

use filch_deque::{Steal, Stealer, Worker};
use filch_models::Bound;
use filch_sync::thread;

use super::{
    assert_ascending, assert_each_once, drain, half_thief, in_peace, rest, share_three_items, thief,
};

/// Two threads: the owner pushes one item and pops; a thief tries once. This is the race that the
/// textbook deque decides by a compare-and-swap, and this one by the tag. A failure: an item with
/// two takers or none, or a thief that reads the slot without an edge.
#[test]
fn the_last_item_has_one_taker() {
    Bound::exhaustive(4_500)
        .outcomes("the last item has one taker", || {
            let _peace = in_peace();
            let worker = Worker::with_capacity(1);
            let stealer = worker.stealer();
            let thief = thread::spawn(move || stealer.steal());
            worker.push(0);
            let popped = worker.pop();
            let answer = match thief.join().unwrap() {
                Steal::Empty => "empty",
                Steal::Retry => "retry",
                Steal::Success(0) => "took",
                Steal::Success(_) => "read something else",
            };
            assert_eq!(worker.pop(), None);
            (popped, answer)
        })
        .assert_exactly([(Some(0), "empty"), (Some(0), "retry"), (None, "took")]);
}

/// Three threads: two thieves and the owner want one item. Exactly one of the three gets it. A
/// failure: a second taker, or none.
#[test]
fn two_thieves_and_the_owner_want_the_last_item() {
    Bound::preemptions(2, 30_000)
        .outcomes("owner and two thieves: the last item has one taker", || {
            let _peace = in_peace();
            let worker = Worker::with_capacity(1);
            let first = thief(worker.stealer(), 1);
            let second = thief(worker.stealer(), 1);
            worker.push(0);
            let own = drain(&worker);
            let (first, second) = (first.join().unwrap(), second.join().unwrap());
            assert_each_once(1, &[&own, &first, &second, &rest(&worker)]);
            (own.len(), first.len(), second.len())
        })
        .assert_reached([(1, 0, 0), (0, 1, 0), (0, 0, 1)]);
}

/// Two threads: the owner pushes three items and pops them all, a thief tries twice. Every division
/// of the items is reached: the thief's part is the oldest ones in order, the owner's the youngest,
/// backwards. A failure: an item with two takers or none, or an order that is broken.
#[test]
fn owner_and_thief_meet_in_the_middle() {
    Bound::preemptions(4, 14_000)
        .outcomes("owner and one thief share three items", || {
            let _peace = in_peace();
            let worker = Worker::with_capacity(4);
            let thief = thief(worker.stealer(), 2);
            share_three_items(&worker, thief, || ())
        })
        .assert_exactly([vec![], vec![0], vec![0, 1]]);
}

/// Two threads: five items, of which a thief takes half with one claim while the owner pops four.
/// This race breaks the textbook deque (see `known_bugs_deque`), whose owner pops an item inside
/// the half. A failure: an item with two takers.
#[test]
fn half_is_taken_while_the_owner_pops() {
    Bound::preemptions(4, 13_000)
        .outcomes("steal-half against pops", || {
            let _peace = in_peace();
            let worker = Worker::with_capacity(8);
            let stolen = half_thief(worker.stealer(), 8);
            for item in 0..5 {
                worker.push(item);
            }
            let own: Vec<_> = (0..4).filter_map(|_| worker.pop()).collect();
            let stolen = stolen.join().unwrap();
            assert_each_once(5, &[&own, &stolen, &rest(&worker)]);
            assert_ascending(&stolen);
            stolen.len()
        })
        .assert_exactly([0, 1, 2, 3]);
}

/// Three threads: one thief takes half, another takes single items, and the owner pops. A failure:
/// overlapping claims.
#[test]
fn half_and_single_thieves_do_not_overlap() {
    Bound::preemptions(2, 14_000).check("steal-half, steal and pop: each item once", || {
        let _peace = in_peace();
        let worker = Worker::with_capacity(4);
        let half = half_thief(worker.stealer(), 8);
        let single = thief(worker.stealer(), 2);
        for item in 0..3 {
            worker.push(item);
        }
        let own: Vec<_> = worker.pop().into_iter().collect();
        let (half, single) = (half.join().unwrap(), single.join().unwrap());
        assert_ascending(&half);
        assert_ascending(&single);
        assert_each_once(3, &[&own, &half, &single, &rest(&worker)]);
    });
}

/// Three threads: `limit` caps the half. Two thieves with limit 2 and six items. A failure: a thief
/// with more than two.
#[test]
fn the_limit_is_kept() {
    Bound::preemptions(2, 8_900).check("limit 2 is kept", || {
        let _peace = in_peace();
        let worker = Worker::with_capacity(8);
        let first = half_thief(worker.stealer(), 2);
        let second = half_thief(worker.stealer(), 2);
        for item in 0..6 {
            worker.push(item);
        }
        let (first, second) = (first.join().unwrap(), second.join().unwrap());
        assert!(first.len() <= 2 && second.len() <= 2);
        assert_each_once(6, &[&first, &second, &rest(&worker)]);
    });
}

/// Two threads: the owner pops an item and pushes another into the same slot, twice, while a thief
/// is between its look and its claim. Without the tag the thief's claim would succeed on the new
/// item although it looked at the old. A failure: a causality violation in the slot, or an item
/// twice.
#[test]
fn a_slot_is_published_again() {
    Bound::exhaustive(19_000)
        .outcomes("pop, then push to the same slot", || {
            let _peace = in_peace();
            let worker = Worker::with_capacity(1);
            let stolen = thief(worker.stealer(), 1);
            let mut own = Vec::new();
            for item in 0..3 {
                worker.push(item);
                if item < 2 {
                    own.extend(worker.pop());
                }
            }
            let stolen = stolen.join().unwrap();
            assert_each_once(3, &[&own, &stolen, &rest(&worker)]);
            stolen
        })
        .assert_exactly([vec![], vec![0], vec![1], vec![2]]);
}

/// Three threads: one thief takes a batch by one claim, and a second takes from the first's deque,
/// in the same order. A failure: a batch out of order, or seen before it was written.
#[test]
fn a_stolen_batch_is_stolen_on_in_order() {
    Bound::preemptions(3, 1_800)
        .outcomes("a batch stolen on, first in first out", || {
            let _peace = in_peace();
            let victim = Worker::with_capacity(8);
            let own = Worker::with_capacity(4);
            let second = thief(own.stealer(), 2);
            let stealer = victim.stealer();
            let first = thread::spawn(move || {
                let oldest = stealer.steal_half_into(&own, 8).success();
                (oldest, own)
            });
            for item in 0..6 {
                victim.push(item);
            }
            let (oldest, own) = first.join().unwrap();
            let second = second.join().unwrap();
            assert_ascending(&second);
            let oldest: Vec<_> = oldest.into_iter().collect();
            assert!(oldest.iter().all(|&item| item == 0));
            assert!(
                second.first().is_none_or(|&item| item == 1),
                "not the oldest"
            );
            assert_each_once(6, &[&oldest, &second, &rest(&own), &rest(&victim)]);
            second.len()
        })
        .assert_exactly([0, 1, 2]);
}

/// Three threads: two workers rob each other, and a thief robs one of them. No thread waits for
/// another. A failure: an item lost or doubled in a cycle of steals.
#[test]
fn workers_rob_each_other() {
    fn take_from(victim: &Stealer<u32>, own: &Worker<u32>) -> Vec<u32> {
        victim
            .steal_half_into(own, 8)
            .success()
            .into_iter()
            .collect()
    }

    Bound::preemptions(4, 1_900).check("mutual steal-half", || {
        let _peace = in_peace();
        let left = Worker::with_capacity(2);
        let right = Worker::with_capacity(2);
        let (left_end, right_end) = (left.stealer(), right.stealer());
        left.push_batch(0..2);
        right.push_batch(2..4);
        let third = thief(left.stealer(), 1);
        let other = thread::spawn(move || (take_from(&left_end, &right), right));
        let taken = take_from(&right_end, &left);
        let (others, right) = other.join().unwrap();
        let third = third.join().unwrap();
        assert_each_once(4, &[&taken, &others, &third, &rest(&left), &rest(&right)]);
    });
}
