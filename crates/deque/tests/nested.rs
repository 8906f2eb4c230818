//! A fork/join recursion's use of a deque: items that are nested, and taken back unread.

use filch_deque::{Steal, Worker};
use filch_sync::asymmetric::register;

/// Tells whether an index is that one, or behind it.
fn since(base: u32) -> impl Fn(u32) -> bool {
    move |index| index.wrapping_sub(base) as i32 >= 0
}

/// A thief that steals back from another one takes nothing that this one had before.
#[test]
fn what_lies_before_an_index_is_left_alone() {
    let worker = Worker::starting_at(8, u32::MAX - 1, false);
    let stealer = worker.stealer();
    worker.push_batch(0..2);
    let base = worker.position() as u32;
    assert_eq!(base, 0, "it has wrapped");
    worker.push_batch(2..4);
    assert_eq!(stealer.steal_if(since(base)), Steal::Empty);
    assert_eq!(
        stealer.steal_if(since(base.wrapping_sub(2))),
        Steal::Success(0)
    );
    assert_eq!(stealer.steal(), Steal::Success(1));
    assert_eq!(stealer.steal_if(since(base)), Steal::Success(2));
}

fn take_back(worker: &Worker<u32>, position: u64) -> bool {
    // SAFETY: the item there is the newest; and the one follows the other.
    unsafe { worker.take_back(position) || worker.take_back_slowly() }
}

/// The short way is taken where there is nothing else to do, and only there.
#[test]
fn nested_items_take_the_short_way() {
    if !register() {
        return;
    }
    let worker = Worker::biased(8);
    let outer = worker.position();
    worker.push(10);
    worker.push(11);
    // SAFETY: here and below: the newest item is there, and `take_back_slowly` follows.
    let is_back = unsafe { worker.take_back(outer + 1) };
    assert!(!is_back, "it is shared at first");
    // SAFETY: that has just said so.
    assert!(unsafe { worker.take_back_slowly() });
    let inner = worker.position();
    // SAFETY: it is the position of now; and `finish_push` would follow.
    assert!(unsafe { worker.push_at(inner, 12) }, "it is the owner's");
    assert_eq!(worker.stealer().steal(), Steal::Empty, "none is in reach");
    // SAFETY: as above.
    let is_back = unsafe { worker.take_back(inner) };
    assert!(!is_back, "a thief wants something");
    // SAFETY: as above.
    assert!(unsafe { worker.take_back_slowly() });
    assert_eq!(worker.stealer().steal(), Steal::Success(10));
    assert!(!take_back(&worker, outer), "it is stolen");
    assert!(worker.is_empty());
}

/// Several are stolen, one after the other is found to be gone, and positions go on behind them.
#[test]
fn items_that_were_stolen_are_found_to_be_gone() {
    for may_bias in [true, false] {
        let worker = Worker::starting_at(2, u32::MAX - 2, may_bias);
        let first = worker.position();
        worker.push_batch(0..4);
        worker.share();
        let stealer = worker.stealer();
        assert!((0..3).all(|item| stealer.steal() == Steal::Success(item)));
        assert_eq!(
            [3, 2, 1, 0].map(|item| take_back(&worker, first + item)),
            [true, false, false, false]
        );
        assert!(worker.is_empty());
        worker.push(4);
        assert_eq!(stealer.steal(), Steal::Success(4), "behind what was stolen");
    }
}
