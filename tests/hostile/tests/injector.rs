//! The injector with panicking destructors and large items.

use filch_injector::{AllocateError, Injector};
use hostile_tests::{Squad, explosion_of, held, on_a_small_stack, refusing};

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

#[test]
fn a_reserved_block_needs_no_memory() {
    let queue = Injector::<u32, 4>::with_blocks();
    let mut items = 0;
    // Pushes as many as there is memory for, block by block.
    let refused = refusing(1 << 10, || {
        loop {
            if let Err(error) = queue.reserve_block() {
                return error;
            }
            for _ in 0..4 {
                queue.push(items);
                items += 1;
            }
            assert!(items < 1000, "it has grown without memory");
        }
    });
    assert_eq!(refused, AllocateError::NoMemory);
    assert!((0..4).all(|item| queue.pop() == Some(item)));
    // A block has come back, now that `head` has left it.
    assert_eq!(queue.pop(), Some(4));
    refusing(1, || {
        queue.reserve_block().unwrap();
        (0..4).for_each(|_| queue.push(items));
    });
    // With memory it grows.
    queue.reserve_block().unwrap();
    assert_eq!(queue.len(), items as usize - 1);
}
