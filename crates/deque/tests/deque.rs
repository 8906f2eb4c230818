//! The deque as one thread can tell: order, counts, drops, refusals.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use filch_deque::{Steal, Stealer, Worker};

#[test]
fn a6_the_owner_is_last_in_first_out_and_thieves_are_first_in_first_out() {
    let worker: Worker<_> = (0..4).collect();
    let stealer = worker.stealer();
    assert_eq!(worker.pop(), Some(3));
    assert_eq!(stealer.steal(), Steal::Success(0));
    assert_eq!(stealer.clone().steal(), Steal::Success(1));
    assert_eq!(worker.pop(), Some(2));
    assert_eq!(worker.pop(), None);
    assert!(stealer.steal().is_empty());
}

/// A failure: an item is taken twice, or lies in the wrong place, where a ring begins anew.
#[test]
fn stolen_keeps_its_order_across_the_end_of_either_ring() {
    let starts = (0..16).flat_map(|from| (0..8).map(move |to| (from, to)));
    for (from, to) in starts.step_by(if cfg!(miri) { 7 } else { 1 }) {
        for count in 1..=16_u32 {
            let victim = Worker::starting_at(32, from, false);
            let thief = Worker::starting_at(8, to, false);
            victim.push_batch(0..count);
            assert_eq!(
                victim.stealer().steal_half_into(&thief, 16),
                Steal::Success(0)
            );
            let stolen = std::iter::from_fn(|| thief.stealer().steal().success());
            assert!(
                stolen.eq(1..count.div_ceil(2)),
                "{count} items, {from} to {to}"
            );
            assert_eq!(thief.capacity(), 8, "there was room");
        }
    }
}

#[test]
fn a_deque_that_robs_itself_takes_one_item() {
    let worker: Worker<_> = (0..8).collect();
    let stealer = worker.stealer();
    assert_eq!(stealer.steal_half_into(&worker, 8), Steal::Success(0));
    assert_eq!(worker.len(), 7);
    let order: Vec<_> = std::iter::from_fn(|| worker.pop()).collect();
    assert_eq!(order, [7, 6, 5, 4, 3, 2, 1]);
    assert!(stealer.steal_half_into(&worker, 8).is_empty());
}

#[test]
#[should_panic(expected = "a thief that may take nothing")]
fn a_limit_of_zero_is_refused() {
    let worker = Worker::<u8>::new();
    let _ = worker.stealer().steal_half_into(&Worker::new(), 0);
}

#[test]
#[should_panic(expected = "2^28")]
fn a_capacity_past_the_index_space_is_refused() {
    drop(Worker::<()>::with_capacity((1 << 28) + 1));
}

#[test]
fn capacities_are_rounded_up_and_grow() {
    for (asked, made) in [(0, 1), (1, 1), (2, 2), (3, 4), (64, 64), (65, 128)] {
        assert_eq!(Worker::<u8>::with_capacity(asked).capacity(), made);
    }
    let worker = Worker::with_capacity(1);
    for item in 0..100 {
        worker.push(item);
    }
    assert_eq!(worker.capacity(), 128);
    assert!((0..100).rev().all(|item| worker.pop() == Some(item)));
}

/// A failure: it grows where a push would not, or loses the order where it grows.
#[test]
fn a_push_that_may_fail_is_a_push() {
    for (start, may_bias) in [(0, false), (u32::MAX - 2, false), (u32::MAX - 2, true)] {
        let [worker, other] = [(); 2].map(|()| Worker::starting_at(2, start, may_bias));
        let stealer = worker.stealer();
        for item in 0..100 {
            assert_eq!(worker.try_push(item), Ok(()));
            other.push(item);
            assert_eq!(worker.capacity(), other.capacity(), "with {item}");
        }
        worker.share();
        assert!((0..50).all(|item| stealer.steal() == Steal::Success(item)));
        assert!((50..100).rev().all(|item| worker.pop() == Some(item)));
        assert_eq!(worker.pop(), None);
    }
}

#[test]
fn a_ring_of_which_a_thief_takes_one_has_room_for_one() {
    let worker = Worker::with_capacity(4);
    let stealer = worker.stealer();
    worker.push_batch(0..3);
    for item in 3..1_000 {
        assert_eq!(stealer.steal(), Steal::Success(item - 3));
        worker.push(item);
    }
    assert_eq!((worker.len(), worker.capacity()), (3, 4));
    worker.push(1_000);
    assert_eq!(worker.capacity(), 8, "one slot is free between calls");
}

#[test]
fn items_of_no_size_are_counted() {
    let worker = Worker::with_capacity(1);
    let own = Worker::with_capacity(1);
    for _ in 0..1_000 {
        worker.push(());
    }
    assert!(
        worker
            .stealer()
            .steal_half_into(&own, usize::MAX)
            .is_success()
    );
    assert_eq!((worker.len(), own.len()), (500, 499));
    assert_eq!(std::iter::from_fn(|| own.pop()).count(), 499);
}

#[test]
fn dropping_the_worker_drops_what_is_left() {
    let item = Arc::new(());
    let worker: Worker<_> = (0..100).map(|_| item.clone()).collect();
    let stealer = worker.stealer();
    let stolen = stealer.steal();
    drop(worker);
    assert_eq!(Arc::strong_count(&item), 2);
    assert!(stealer.steal().is_empty() && stealer.is_empty());
    drop(stolen);
    assert_eq!(Arc::strong_count(&item), 1);
}

#[test]
fn a_forgotten_worker_leaves_its_items_to_thieves() {
    let worker: Worker<_> = (0..3).collect();
    let stealer = worker.stealer();
    std::mem::forget(worker);
    let order: Vec<i32> = std::iter::from_fn(|| stealer.steal().success()).collect();
    assert_eq!(order, [0, 1, 2]);
    // Never freed, but reachable, so that a leak checker does not report it.
    static KEPT: OnceLock<Stealer<i32>> = OnceLock::new();
    assert!(KEPT.set(stealer).is_ok());
}

#[test]
fn debug_says_something() {
    let worker: Worker<_> = (0..3).collect();
    assert_eq!(format!("{worker:?}"), "Worker { len: 3, capacity: 64 }");
    assert_eq!(
        format!("{:?}", worker.stealer()),
        "Stealer { is_empty: false }"
    );
}

#[test]
fn an_only_item_is_known_again() {
    let worker = Worker::new();
    let stealer = worker.stealer();
    assert_eq!(stealer.sole(), None);
    worker.push_batch([0]);
    let seen = stealer.sole();
    assert!(seen.is_some() && stealer.sole() == seen);
    assert_eq!(worker.pop(), Some(0));
    worker.push(1);
    assert_ne!(stealer.sole(), seen, "another one");
    worker.push_batch([2, 3]);
    assert_eq!((stealer.sole(), stealer.len()), (None, 3));
}

#[test]
fn a_batch_whose_iterator_panics_is_kept() {
    let worker = Worker::with_capacity(1);
    let items = (0..9).inspect(|&item| assert!(item < 3, "boom"));
    assert!(catch_unwind(AssertUnwindSafe(|| worker.push_batch(items))).is_err());
    assert_eq!(worker.stealer().steal(), Steal::Success(0));
    assert_eq!(worker.len(), 2);
}

#[test]
fn a_batch_whose_iterator_uses_the_deque() {
    for worker in [Worker::with_capacity(1), (10..13).collect()] {
        let held = worker.len();
        let mut popped = Vec::new();
        worker.push_batch((0..4).inspect(|&item| {
            popped.extend(worker.pop());
            worker.push(100 + item);
        }));
        assert_eq!(worker.len() + popped.len(), held + 8);
        assert_eq!(worker.stealer().is_empty(), worker.is_empty());
    }
}

#[test]
fn a_deque_shrinks_on_request() {
    let worker: Worker<_> = (0..100).collect();
    worker.shrink_to(1_000);
    assert_eq!(worker.capacity(), 128);
    let stealer = worker.stealer();
    for _ in 0..95 {
        let _ = stealer.steal();
    }
    worker.shrink_to(0);
    assert_eq!((worker.capacity(), worker.len()), (8, 5));
    worker.push_batch([0; 3]);
    assert!(std::iter::from_fn(|| worker.pop()).eq([0, 0, 0, 99, 98, 97, 96, 95]));
    worker.shrink_to(0);
    assert_eq!(worker.capacity(), 1);
    let half = Worker::with_capacity(8);
    half.push_batch(0..3);
    half.shrink_to(0);
    assert_eq!(half.capacity(), 4);
    assert_eq!(half.stealer().steal(), Steal::Success(0), "thieves find it");
}
