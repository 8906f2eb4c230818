//! The injector beside destructors that panic, and with items that are large.

use filch_injector::Injector;
use hostile_tests::{Squad, explosion_of, held, on_a_small_stack};

#[test]
fn blocks_of_large_items_fit_a_small_stack() {
    // A block has a megabyte, and a thread usually two.
    on_a_small_stack(512 << 10, || {
        let queue = Injector::<[u8; 8192]>::new();
        for number in 0..300 {
            queue.push([number as u8; 8192]);
        }
        for number in 0..300 {
            assert_eq!(queue.pop().map(|item| item[8191]), Some(number as u8));
        }
        assert_eq!(queue.pop(), None);
    });
}

#[test]
fn a_destructor_that_panics_keeps_no_other_from_running() {
    for live in [0, 3, 299, 999] {
        let squad = Squad::new([live]);
        let before = held();
        let queue = Injector::new();
        queue.push_batch(squad.bombs(0..1000));
        assert_eq!(explosion_of(|| drop(queue)), Some(live));
        squad.assert_dropped(1000);
        assert_eq!(held(), before, "memory is left behind");
    }
}
