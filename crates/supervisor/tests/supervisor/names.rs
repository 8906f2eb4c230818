//! A child's name outlives its processes.

use filch_actors::prelude::*;
use filch_scheduler::Undelivered;
use filch_supervisor::{Backoff, ChildError, Strategy, Supervisor};

use crate::common::{Order, SECOND, Stage, info};

/// A message to the old process comes back; one to the name arrives at the new process. In between
/// nobody has the name.
#[test]
fn the_name_finds_the_present_life() {
    let stage = Stage::new();
    let supervisor = Supervisor::new(Strategy::OneForOne)
        .backoff(Backoff::exponential(SECOND, SECOND))
        .child(stage.child("a"));
    let supervisor = stage.start(supervisor);
    stage.expect(["+a"]);
    let old = stage.pid("a");
    stage.order("a", Order::Fail);
    stage.expect(["-a: failed: broken"]);
    stage.clock.block_until(1);
    assert_eq!(stage.scheduler.whereis("a"), None);
    let refused = stage.scheduler.send(old, Order::Finish).unwrap_err();
    assert_eq!(refused.reason, Undelivered::NoSuchProcess);
    assert_eq!(refused.message, Order::Finish, "it comes back");

    stage.clock.advance(SECOND);
    stage.expect(["+a"]);
    let new = stage.pid("a");
    assert_ne!(old, new);
    assert_eq!(info(&supervisor, "a").pid, Some(new));
    let refused = stage.scheduler.send(old, Order::Fail).unwrap_err();
    assert_eq!(refused.reason, Undelivered::NoSuchProcess);
    stage.order("a", Order::Finish);
    stage.expect(["-a: done"]);
}

/// Unread messages are dropped with a process, as always.
#[test]
fn messages_do_not_go_over_to_the_next_life() {
    let stage = Stage::new();
    let supervisor = Supervisor::new(Strategy::OneForOne).intensity(10, SECOND);
    let supervisor = stage.start(supervisor.child(stage.child("a")));
    stage.expect(["+a"]);
    let old = stage.pid("a");
    stage.scheduler.send(old, Order::Fail).unwrap();
    // Unread, or refused: that process is over.
    let _ = stage.scheduler.send(old, Order::Finish);
    stage.expect(["-a: failed: broken", "+a"]);
    supervisor.stop().wait().unwrap();
    stage.expect(["-a: done"]);
    stage.expect_no_more();
}

/// The names are the scheduler's: another process may have one.
#[test]
fn a_name_that_another_process_has() {
    let stage = Stage::new();
    let one = stage.start(Supervisor::new(Strategy::OneForOne).child(stage.child("a")));
    let other = stage.start(Supervisor::new(Strategy::OneForOne));
    stage.expect(["+a"]);
    let refused = other.start_child(stage.child("a")).wait().unwrap_err();
    assert!(
        matches!(&refused.error, ChildError::NotStarted(_)),
        "{refused}"
    );
    assert_eq!(
        refused.child.unwrap().into_inner().name(),
        Some("a"),
        "it comes back"
    );
    stage.expect_no_more();
    one.stop().wait().unwrap();
    other.start_child(stage.child("a")).wait().unwrap();
}

/// Messages to a supervisor come back to their senders.
#[test]
fn a_supervisor_takes_no_messages() {
    let stage = Stage::new();
    stage.start(Supervisor::new(Strategy::OneForOne).name("root"));
    let refused = stage.scheduler.send(stage.pid("root"), Order::Fail);
    assert_eq!(refused.unwrap_err().message, Order::Fail);
}
