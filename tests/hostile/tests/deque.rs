//! The deque with panicking destructors and large items.

use filch_deque::{NoMemory, Steal, Worker};
use filch_sync::asymmetric;
use hostile_tests::{Bomb, Squad, explosion_of, held, on_a_small_stack, refusing};

fn all_are_dropped(worker: impl Fn() -> Worker<Bomb>) {
    for live in [0, 3, 99, 199] {
        let squad = Squad::new([live]);
        let before = held();
        let worker = worker();
        squad.bombs(0..200).for_each(|bomb| worker.push(bomb));
        let stealer = worker.stealer();
        assert_eq!(explosion_of(|| drop(worker)), Some(live));
        squad.assert_dropped(200);
        // The words outlive the owner, for its thieves.
        assert!(matches!(stealer.steal(), Steal::Empty));
        drop(stealer);
        assert_eq!(held(), before, "memory is left behind");
    }
}

#[test]
fn a_destructor_that_panics_keeps_no_other_from_running() {
    all_are_dropped(|| Worker::with_capacity(2));
    asymmetric::register();
    all_are_dropped(|| Worker::biased(2));
}

#[test]
fn rings_of_large_items_fit_a_small_stack() {
    // The ring grows to two megabytes.
    on_a_small_stack(512 << 10, || {
        let worker = Worker::<[u8; 8192]>::with_capacity(2);
        for number in 0..200 {
            worker.push([number; 8192]);
        }
        for number in (0..200).rev() {
            assert_eq!(worker.pop().map(|item| item[8191]), Some(number));
        }
    });
}

#[test]
fn a_ring_that_cannot_grow_stays_as_it_is() {
    let before = held();
    let worker = Worker::with_capacity(64);
    worker.push_batch(0..60_u8);
    // The last limit leaves enough for the slots, but not for the ring itself.
    for refused in [1, 128, 200] {
        assert_eq!(refusing(refused, || worker.try_reserve(4)), Err(NoMemory));
        assert_eq!(refusing(refused, || worker.try_reserve(3)), Ok(()));
        assert_eq!((worker.len(), worker.capacity()), (60, 64));
    }
    worker.try_reserve(5).unwrap();
    assert_eq!(worker.capacity(), 128);
    refusing(1, || (60..127).for_each(|item| worker.push(item)));
    while worker.len() > 4 {
        worker.pop();
    }
    refusing(1, || worker.shrink_to(4));
    assert_eq!((worker.len(), worker.capacity()), (4, 128));
    assert_eq!(worker.stealer().steal(), Steal::Success(0));
    drop(worker);
    assert_eq!(held(), before, "memory is left behind");
}

#[test]
fn a_thief_whose_deque_cannot_grow_takes_what_it_has_room_for() {
    let victim: Worker<_> = (0..100).collect();
    let own = Worker::with_capacity(4);
    let stealer = victim.stealer();
    let stolen = refusing(1, || stealer.steal_half_into(&own, usize::MAX));
    assert_eq!(
        (stolen, own.len(), victim.len()),
        (Steal::Success(0), 3, 96)
    );
    // Without any memory, it takes only the oldest item.
    let stolen = refusing(1, || stealer.steal_half_into(&own, usize::MAX));
    assert_eq!(
        (stolen, own.len(), victim.len()),
        (Steal::Success(4), 3, 95)
    );
    let stolen = stealer.steal_half_into(&own, usize::MAX);
    assert_eq!(
        (stolen, own.len(), victim.len()),
        (Steal::Success(5), 50, 47)
    );
    assert_eq!(own.stealer().steal(), Steal::Success(1));
}
