//! Tasks that come along with one from outside.

use std::cell::RefCell;

use super::{Kind, MICRO, World};
use crate::queues::source::Found;

/// A failure: a task of a batch is not announced, or only when it is about to run.
#[test]
fn what_comes_along_is_prefetched_before_the_first_runs() {
    thread_local! {
        static PREFETCHED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    }

    let mut world = World::new(1);
    let prefetch = |&task: &usize| PREFETCHED.with_borrow_mut(|tasks| tasks.push(task));
    world.shared.prefetch = prefetch;
    world.add(5, Kind::Once(MICRO), 0);
    let local = world.shared.queues.local(&world.permits[0]);
    assert_eq!(local.take_global(&world.shared, 3), Some(0));
    assert_eq!(PREFETCHED.take(), [1, 2, 3]);
    let next = local.next(&world.shared, true);
    assert!(matches!(next, Some(Found::Task(3))), "the newest first");
    assert!(PREFETCHED.take().is_empty());
}
