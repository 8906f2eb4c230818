//! Watches: told once, cancelled in time or not, and swept out.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use crate::link::watch::{Watch, WatchKind, Watches};
use crate::table::{Placement, Table};
use crate::tests::Any;
use crate::{ExitReason, Node, Pid};

fn two() -> [Pid; 2] {
    let table = Table::<Any>::new(Node::default());
    [(); 2].map(|()| table.pid_of(table.occupy(Placement::default()).unwrap()))
}

#[test]
fn a_watch_is_told_once_or_called_off() {
    let [by, with] = two();
    let watch = || Watch::new(WatchKind::Monitor, by, with, None);
    let told = watch();
    assert!(told.fire() && !told.fire() && !told.is_cancelled());
    assert!(!told.cancel(), "too late");
    let called_off = watch();
    assert!(called_off.cancel());
    assert!(called_off.is_cancelled() && !called_off.fire());
}

/// A failure: what a callback holds stays as long as the watch, or a cancel that comes too late
/// takes the callback away from the thread that is about to call it.
#[test]
fn a_callback_goes_with_a_cancel_that_is_in_time() {
    let [by, with] = two();
    let held = Arc::new(());
    let watch = || {
        let held = Arc::clone(&held);
        let call = move |_: &ExitReason| drop(held);
        Watch::new(WatchKind::Call, by, with, Some(Box::new(call)))
    };
    let called_off = watch();
    assert!(called_off.cancel());
    assert_eq!(Arc::strong_count(&held), 1, "the watch is still there");
    let told = watch();
    assert!(told.fire() && !told.cancel());
    assert_eq!(Arc::strong_count(&held), 2, "it is to be called");
}

#[test]
fn clones_are_equal_and_two_of_the_same_processes_are_not() {
    let [by, with] = two();
    let [one, other] = [(); 2].map(|()| Watch::new(WatchKind::Monitor, by, with, None));
    assert!(one == one.clone() && one != other);
    let hasher = RandomState::new();
    assert_eq!(hasher.hash_one(&one), hasher.hash_one(one.clone()));
    assert_ne!(hasher.hash_one(&one), hasher.hash_one(&other));
}

#[test]
fn a_link_has_two_ends() {
    let [by, with] = two();
    let link = Watch::new(WatchKind::Link, by, with, None);
    assert_eq!((link.other_than(by), link.other_than(with)), (with, by));
    assert!(link.cancel());
    assert!(!link.cancel(), "it was called off before");
    assert!(!link.fire());
}

/// Few of many watches are armed at a time. A failure: the list grows with every watch that ever
/// was, or forgets one that is armed.
#[test]
fn watches_that_are_over_are_swept_out() {
    let [by, with] = two();
    let mut watches = Watches::default();
    for number in 0..100 {
        let watch = Watch::new(WatchKind::Monitor, by, with, None);
        watches.add(watch.clone());
        if number % 10 != 0 {
            assert!(watch.fire());
        }
    }
    let list = watches.as_slice();
    assert!(list.len() <= 2 * 11, "at most twice as many as were armed");
    assert_eq!(list.iter().filter(|watch| watch.fire()).count(), 10);
}

#[test]
fn one_reason_is_normal() {
    assert!(ExitReason::Done.is_normal());
    assert!(!ExitReason::ShutDown.is_normal() && !ExitReason::failed(&"why").is_normal());
}
