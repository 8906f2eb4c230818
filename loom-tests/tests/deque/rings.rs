//! The ring under claims: growth, reuse of slots, wrapping indices, the end of the owner.

use std::sync::Mutex as StdMutex;

use filch_deque::Worker;
use filch_models::{Bound, Crossing};
use filch_sync::{Arc, thread};

use super::{
    assert_ascending, assert_each_once, biased_after, drain, half_thief, in_peace, insist,
    push_and_pop, push_beside_a_thief, rest, thief,
};

/// Two threads: a ring of one slot grows to four under a thief that takes twice. A failure: the
/// thief reads a freed ring, or claims from the old ring an item that has moved.
#[test]
fn the_ring_grows_under_a_thief() {
    Bound::preemptions(3, 52_000)
        .outcomes("growth from 1 to 4 while stealing", || {
            let _peace = in_peace();
            push_beside_a_thief(&Worker::with_capacity(1), 3, 2)
        })
        .assert_exactly([vec![], vec![0], vec![0, 1]]);
}

/// Three threads: growth under a thief of half and a thief of one. A failure as above, or two
/// claims of one item on two rings.
#[test]
fn the_ring_grows_under_two_thieves() {
    Bound::preemptions(1, 20_000).check("growth from 1 to 4 under two thieves", || {
        let _peace = in_peace();
        let worker = Worker::with_capacity(1);
        let half = half_thief(worker.stealer(), 8);
        let single = thief(worker.stealer(), 1);
        for item in 0..2 {
            worker.push(item);
        }
        let (half, single) = (half.join().unwrap(), single.join().unwrap());
        assert_ascending(&half);
        assert_each_once(2, &[&half, &single, &rest(&worker)]);
    });
}

/// Two threads: the deque is never empty once the first item is in, yet its ring is replaced twice.
/// A thief that looks during a replacement is told to retry. A failure: it is told that there is
/// nothing, and would go to sleep on that.
#[test]
fn a_closed_deque_does_not_look_empty() {
    Bound::preemptions(4, 9_100)
        .outcomes("no false emptiness", || {
            let _peace = in_peace();
            let worker = Worker::with_capacity(1);
            let stealer = worker.stealer();
            worker.push(0);
            let thief = thread::spawn(move || {
                assert!(!stealer.is_empty(), "looks empty");
                let answer = stealer.steal();
                assert!(!answer.is_empty(), "empty answer");
                answer.success()
            });
            worker.push(1);
            worker.push(2);
            thief.join().unwrap()
        })
        .assert_exactly([None, Some(0)]);
}

/// Two threads: a ring of two slots comes full circle while a thief takes what it can: slots are
/// written again after the thief's reads, or the ring is replaced. A failure: a causality
/// violation between the thief's read and the owner's next write of the slot.
#[test]
fn slots_are_reused_after_a_claim() {
    Bound::preemptions(3, 11_000)
        .outcomes("slot reuse behind a thief", || {
            let _peace = in_peace();
            let worker = Worker::with_capacity(2);
            push_beside_a_thief(&worker, 3, 2);
            // Whether slots were written again, and the ring kept.
            worker.capacity() == 2
        })
        .assert_exactly([false, true]);
}

/// Two threads: a thief claims three items of a ring of eight slots, of which the owner needs the
/// first two next. A failure: the thief reports its claim before it has moved the second item out,
/// and the owner writes under it.
#[test]
fn a_half_is_moved_out_before_its_slots_are_free() {
    Bound::preemptions(3, 2_400)
        .outcomes("slot reuse behind a thief of three", || {
            let _peace = in_peace();
            let crossing = Crossing::new();
            let worker = Worker::with_capacity(8);
            worker.push_batch(0..5);
            let (stealer, crossed) = (worker.stealer(), crossing.clone());
            let thief = thread::spawn(move || {
                let own = Worker::with_capacity(2);
                let first = stealer.steal_half_into(&own, 3).success();
                crossed.pass();
                let mut stolen: Vec<_> = first.into_iter().collect();
                stolen.extend(drain(&own));
                stolen
            });
            crossing.pass();
            worker.push_batch(5..10);
            let is_reused = worker.capacity() == 8;
            let stolen = thief.join().unwrap();
            assert_each_once(10, &[&stolen, &rest(&worker)]);
            (is_reused, stolen.len())
        })
        .assert_exactly([(false, 0), (false, 3), (true, 3)]);
}

/// Three threads: two thieves claim two items of a ring of four slots, and the second may finish
/// while the first still reads. The owner takes the last slot, and wants the first one next. A
/// failure: `done` counts the second claim where the first was meant, and the owner writes under
/// the first thief.
#[test]
fn claims_finish_out_of_order() {
    Bound::preemptions(2, 41_000)
        .outcomes("a later claim that finishes first frees no slot", || {
            let _peace = in_peace();
            let crossing = Crossing::new();
            let worker = Worker::with_capacity(4);
            worker.push_batch(0..3);
            let thieves = [worker.stealer(), worker.stealer()].map(|stealer| {
                let crossing = crossing.clone();
                thread::spawn(move || {
                    let item = stealer.steal().success();
                    crossing.pass();
                    item
                })
            });
            crossing.pass();
            worker.push(3);
            let reused = worker.capacity() == 4;
            let _ = &reused;
            worker.push(4);
            let stolen: Vec<_> = thieves
                .into_iter()
                .filter_map(|thief| thief.join().unwrap())
                .collect();
            assert_each_once(5, &[&stolen, &rest(&worker)]);
            (reused, stolen.len())
        })
        .assert_reached([(false, 0), (false, 1), (true, 1), (true, 2)]);
}

/// Two threads: a small ring, pops, and a claim of more than one item. Tag and index begin just
/// before `u32::MAX`, so that both wrap. A failure: an item lost or doubled where a comparison
/// forgot to wrap.
#[test]
fn tag_and_index_wrap_around() {
    Bound::preemptions(3, 3_500).check("tag and index wrap", || {
        let _peace = in_peace();
        let worker = Worker::starting_at(2, u32::MAX - 1, false);
        push_and_pop(&worker, 4, half_thief(worker.stealer(), 8));
    });
}

/// Growth at the same place: the claims of the new ring begin at an index that has just wrapped, or
/// is about to.
#[test]
fn the_ring_grows_where_the_index_wraps() {
    Bound::preemptions(2, 10_000).check("growth at the wrap", || {
        let _peace = in_peace();
        push_beside_a_thief(&Worker::starting_at(1, u32::MAX, false), 3, 2);
    });
}

/// An item that reports its drop.
struct Item {
    id: usize,
    ends: std::sync::Arc<StdMutex<Vec<usize>>>,
    // A loom object: loom fails the model if it is leaked.
    _alive: Arc<()>,
}

impl Drop for Item {
    fn drop(&mut self) {
        self.ends.lock().unwrap().push(self.id);
    }
}

/// Three threads: the owner's end is dropped with two items in it, while one thief is in the middle
/// of a steal and another in the middle of a steal of half; of a biased deque, the first insists.
/// Any of the three may drop the last handle. Each item is dropped once; afterwards there is
/// nothing to steal, and nobody to ask. A failure: a leak, a double drop, a ring freed under a
/// thief.
pub(crate) fn the_owner_goes(is_biased: bool) {
    let ends = std::sync::Arc::new(StdMutex::new(Vec::new()));
    let item = |id| Item {
        id,
        ends: ends.clone(),
        _alive: Arc::new(()),
    };
    let worker = match is_biased {
        true => biased_after(1, 0, item(2)),
        false => Worker::with_capacity(1),
    };
    let (single, half) = (worker.stealer(), worker.stealer());
    let single = thread::spawn(move || {
        if is_biased {
            insist(&single);
        }
        single.steal().success()
    });
    let half = thread::spawn(move || {
        let own = Worker::starting_at(1, 0, is_biased);
        half.steal_half_into(&own, 8).success()
    });
    worker.push(item(0));
    worker.push(item(1));
    let stealer = worker.stealer();
    drop(worker);
    assert!(stealer.steal().is_empty(), "an item after the owner's end");
    drop(stealer);
    drop((single.join().unwrap(), half.join().unwrap()));
    let mut ends = ends.lock().unwrap().clone();
    ends.sort_unstable();
    let all = if is_biased { 3 } else { 2 };
    assert!(ends.into_iter().eq(0..all), "each item ends once");
}

/// See [`the_owner_goes`].
#[test]
fn the_owner_goes_with_items_left() {
    Bound::preemptions(1, 43_000).check("worker dropped with thieves in flight", || {
        let _peace = in_peace();
        the_owner_goes(false);
    });
}
