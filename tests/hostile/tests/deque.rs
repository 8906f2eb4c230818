//! The deque beside destructors that panic, and with items that are large.

use filch_deque::{Policy, Steal, Worker};
use hostile_tests::{Bomb, Squad, explosion_of, held, on_a_small_stack};

fn all_are_dropped<P: Policy>(worker: impl Fn() -> Worker<Bomb, P>) {
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
    all_are_dropped(|| Worker::lazy(2));
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
