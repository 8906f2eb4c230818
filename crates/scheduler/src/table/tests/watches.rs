//! Watches: told once, cancelled in time or not, and swept out.

use std::sync::Arc;

use crate::link::watch::{Link, Monitor, Watch, WatchKind, add};
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
    assert!(!Monitor(Arc::clone(&told)).demonitor(), "too late");
    let called_off = watch();
    assert!(Monitor(Arc::clone(&called_off)).demonitor());
    assert!(called_off.is_cancelled() && !called_off.fire());
}

#[test]
fn a_link_has_two_ends() {
    let [by, with] = two();
    let link = Link(Watch::new(WatchKind::Link, by, with, None));
    assert_eq!((link.other_than(by), link.other_than(with)), (with, by));
    assert!(link.unlink());
    assert!(!link.unlink(), "it was called off before");
    assert!(!link.0.fire());
}

/// Few of many watches are armed at a time. A failure: the list grows with every watch that ever
/// was, or forgets one that is armed.
#[test]
fn watches_that_are_over_are_swept_out() {
    let [by, with] = two();
    let mut list = Vec::new();
    let mut all = Vec::new();
    for number in 0..100 {
        let watch = Watch::new(WatchKind::Monitor, by, with, None);
        add(&mut list, Arc::clone(&watch));
        if number % 10 != 0 {
            assert!(watch.fire());
        }
        all.push(watch);
    }
    let kept = all.iter().filter(|watch| Arc::strong_count(watch) > 1);
    assert!(
        kept.count() <= 2 * 11,
        "at most twice as many as were armed"
    );
    assert_eq!(list.iter().filter(|watch| watch.fire()).count(), 10);
}

#[test]
fn one_reason_is_normal() {
    assert!(ExitReason::Done.is_normal());
    assert!(!ExitReason::ShutDown.is_normal() && !ExitReason::failed(&"why").is_normal());
}
