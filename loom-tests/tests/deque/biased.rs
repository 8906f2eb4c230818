//! A deque that is its owner's, and thieves that insist: ask, pass the heavy fence, revoke, steal.
//!
//! The owner goes the short way: a store to `bottom`, the light fence, a load of a stop. The models
//! assert that each item has one taker whichever of the two fences comes first.

use std::iter;

use filch_deque::{Request, Steal, Stealer, Worker};
use filch_models::{Bound, Crossing};
use filch_sync::thread;

use super::{
    assert_ascending, assert_each_once, biased, drain, insist, insistent_thief, refused, rest,
    share_three_items, steal_surely, thief,
};

/// Two threads: the owner pushes one item the short way and pops it, beside a thief that insists. A
/// failure: the pop has not seen that the stops are away, nor the thief that the item is gone, and
/// both have it.
#[test]
fn the_last_item_has_one_taker() {
    Bound::exhaustive(8_200)
        .outcomes("biased: the last item has one taker", || {
            let worker = biased(2);
            let thief = insistent_thief(worker.stealer(), 1);
            worker.push(0);
            let popped = worker.pop();
            let stolen = thief.join().unwrap();
            assert_eq!(worker.pop(), None);
            (popped, stolen)
        })
        .assert_exactly([(Some(0), vec![]), (None, vec![0])]);
}

/// Two threads: the owner pushes three items and pops them all, a thief insists and tries, twice.
/// Every division of the items is reached. A failure: an item with two takers or none, a slot that
/// is read without an edge, or an order that is broken.
#[test]
fn owner_and_thief_share_three_items() {
    Bound::preemptions(3, 8_700)
        .outcomes("biased: owner and one thief share three items", || {
            let worker = biased(4);
            let thief = insistent_thief(worker.stealer(), 2);
            share_three_items(&worker, thief, || ())
        })
        .assert_exactly([vec![], vec![0], vec![0, 1]]);
}

/// Three threads: two thieves insist beside an owner that pushes two items and pops them all. One
/// of them may find that the other has had its fence. A failure: a thief that comes by the other's
/// fence and has not seen a pop before it.
#[test]
fn owner_and_two_thieves() {
    Bound::preemptions(2, 47_000)
        .outcomes("biased: owner and two thieves share two items", || {
            let worker = biased(2);
            let first = insistent_thief(worker.stealer(), 1);
            let second = insistent_thief(worker.stealer(), 1);
            worker.push(0);
            worker.push(1);
            let own = drain(&worker);
            let (first, second) = (first.join().unwrap(), second.join().unwrap());
            assert_each_once(2, &[&own, &first, &second]);
            (first.len(), second.len())
        })
        .assert_exactly([(0, 0), (1, 0), (0, 1), (1, 1)]);
}

/// Two threads: where the system refuses heavy fences, the owner keeps nothing to itself, and a
/// thief has nothing to ask. Each item has one taker, without a fence.
#[test]
fn nothing_is_hidden_where_heavy_fences_are_refused() {
    Bound::exhaustive(240_000)
        .outcomes("refused: owner and thief share two items", || {
            let _fences = refused();
            let worker = Worker::biased(2);
            let thief = thief(worker.stealer(), 1);
            worker.push(0);
            worker.push(1);
            let own = drain(&worker);
            assert!(worker.stealer().ask().is_none(), "shared");
            let stolen = thief.join().unwrap();
            assert_each_once(2, &[&own, &stolen]);
            stolen.len()
        })
        .assert_exactly([0, 1]);
}

/// Three threads: the owner has pushed two items and does something long. Each of two thieves
/// insists, and gets one; the second needs no fence if it comes after the first. A failure: a thief
/// that finds nothing beside a silent owner that has something.
#[test]
fn a_silent_owner_is_robbed() {
    Bound::preemptions(3, 900)
        .outcomes("biased: two thieves beside a silent owner", || {
            let worker = biased(4);
            worker.push(0);
            worker.push(1);
            let thieves = [(); 2].map(|()| {
                let stealer = worker.stealer();
                thread::spawn(move || (insist(&stealer), steal_surely(&stealer)))
            });
            let [(first, one), (second, other)] = thieves.map(|thief| thief.join().unwrap());
            let stolen: Vec<_> = [one, other]
                .into_iter()
                .filter_map(Steal::success)
                .collect();
            assert_each_once(2, &[&stolen]);
            assert_eq!(worker.pop(), None);
            usize::from(first) + usize::from(second)
        })
        .assert_exactly([1, 2]);
}

/// Three threads: the same, and the owner comes back and pops what is left. A failure: its pop goes
/// the short way after another thread's fence.
#[test]
fn a_silent_owner_comes_back() {
    Bound::preemptions(3, 36_000)
        .outcomes(
            "biased: two thieves beside an owner that was silent",
            || {
                let worker = biased(4);
                worker.push(0);
                worker.push(1);
                let first = insistent_thief(worker.stealer(), 1);
                let second = insistent_thief(worker.stealer(), 1);
                let own = drain(&worker);
                let (first, second) = (first.join().unwrap(), second.join().unwrap());
                assert_each_once(2, &[&own, &first, &second]);
                (own, first.len(), second.len())
            },
        )
        .assert_reached([
            (vec![1, 0], 0, 0),
            (vec![1], 1, 0),
            (vec![1], 0, 1),
            (vec![], 1, 1),
        ]);
}

/// Two threads: one thief asks of two silent owners, and has both deques shared by one fence. A
/// failure: an item of the second that is not there to see, or one that its owner pops, too.
#[test]
fn one_fence_serves_two_deques() {
    Bound::exhaustive(210)
        .outcomes("biased: one fence for two deques", || {
            let [left, right] = [(); 2].map(|()| biased(2));
            left.push(0);
            right.push(1);
            let ends = [left.stealer(), right.stealer()];
            let thief = thread::spawn(move || {
                let requests: Vec<_> = ends.iter().filter_map(Stealer::ask).collect();
                Request::revoke_all(&requests).unwrap();
                let stolen = ends.each_ref().map(|end| steal_surely(end).success());
                stolen.into_iter().flatten().collect::<Vec<_>>()
            });
            let own: Vec<_> = right.pop().into_iter().collect();
            let stolen = thief.join().unwrap();
            assert_ascending(&stolen);
            assert_each_once(2, &[&own, &stolen]);
            stolen
        })
        .assert_exactly([vec![0], vec![0, 1]]);
}

/// Two threads: a thief asks, and insists later. The owner answers it, takes the deque back, and
/// has items of its own again. A failure: the old request revokes the new epoch, whose pops never
/// passed a light fence after the thief's.
#[test]
fn a_fence_is_good_for_one_tag() {
    Bound::preemptions(3, 12_000)
        .outcomes("biased: an old request takes nothing", || {
            let worker = biased(4);
            let stealer = worker.stealer();
            let crossing = Crossing::new();
            let thief = thread::spawn({
                let crossing = crossing.clone();
                move || {
                    let request = stealer.ask();
                    crossing.pass();
                    Request::revoke_all(request.as_slice()).unwrap();
                    stealer.steal().success()
                }
            });
            let mut own = Vec::new();
            for item in 0..2 {
                worker.push(item);
                own.extend(worker.pop());
                crossing.pass();
            }
            worker.push(2);
            worker.push(3);
            own.extend(worker.pop());
            let stolen = thief.join().unwrap();
            assert_each_once(4, &[&own, stolen.as_slice(), &rest(&worker)]);
            stolen
        })
        // None: the deque was the owner's again when the thief came, or empty.
        .assert_reached([None, Some(0), Some(1), Some(2)]);
}

/// Two threads: a thief insists, takes half by one claim, and does so again, while the owner pops
/// four items and pushes one. A failure: an item inside the half that the owner popped the short
/// way.
#[test]
fn half_is_taken_while_the_owner_pops() {
    Bound::preemptions(3, 8_500)
        .outcomes("biased: steal-half against pops", || {
            let worker = biased(8);
            worker.push_batch(0..5);
            let stealer = worker.stealer();
            let thief = thread::spawn(move || {
                let own = biased(4);
                let take = || {
                    insist(&stealer);
                    stealer.steal_half_into(&own, 8).success()
                };
                let oldest: Vec<_> = iter::repeat_with(take).take(2).flatten().collect();
                [oldest, drain(&own)].concat()
            });
            let mut own: Vec<_> = (0..4).filter_map(|_| worker.pop()).collect();
            worker.push(5);
            own.extend(worker.pop());
            let stolen = thief.join().unwrap();
            assert_each_once(6, &[&own, &stolen, &rest(&worker)]);
            stolen.len()
        })
        .assert_exactly([1, 2, 3, 4]);
}

/// Three threads: a thief insists and takes half of a silent owner's items into its own biased
/// deque; another thief insists there. A failure: a batch that is out of order, or seen before it
/// was written, or that its new owner pops beside the second thief.
#[test]
fn a_stolen_batch_is_stolen_on() {
    Bound::preemptions(3, 11_000)
        .outcomes("biased: a batch is stolen on", || {
            let victim = biased(4);
            victim.push_batch(0..4);
            let own = biased(2);
            let second = insistent_thief(own.stealer(), 1);
            let stealer = victim.stealer();
            let first = thread::spawn(move || {
                insist(&stealer);
                let oldest = stealer.steal_half_into(&own, 8).success();
                let mut all = drain(&own);
                all.extend(oldest);
                all
            });
            let own: Vec<_> = victim.pop().into_iter().collect();
            let (first, second) = (first.join().unwrap(), second.join().unwrap());
            assert_each_once(4, &[&own, &first, &second, &rest(&victim)]);
            (first, second)
        })
        .assert_exactly([(vec![], vec![]), (vec![1, 0], vec![]), (vec![0], vec![1])]);
}

/// Three threads: two owners of biased deques insist on each other's items, and one is robbed by a
/// third thread that asks and does not insist. No thread waits for another. A failure: an item lost
/// or doubled in a cycle of steals.
#[test]
fn workers_rob_each_other() {
    Bound::preemptions(1, 3_300).check("biased: mutual steal-half", || {
        let [left, right] = [(); 2].map(|()| biased(2));
        let (left_end, right_end) = (left.stealer(), right.stealer());
        let third = thief(left.stealer(), 1);
        let other = thread::spawn(move || {
            right.push(2);
            right.push(3);
            insist(&left_end);
            let taken: Vec<_> = left_end
                .steal_half_into(&right, 8)
                .success()
                .into_iter()
                .collect();
            (taken, right)
        });
        left.push(0);
        left.push(1);
        insist(&right_end);
        let taken: Vec<_> = right_end
            .steal_half_into(&left, 8)
            .success()
            .into_iter()
            .collect();
        let (others, right) = other.join().unwrap();
        let third = third.join().unwrap();
        assert_each_once(4, &[&taken, &others, &third, &rest(&left), &rest(&right)]);
    });
}
