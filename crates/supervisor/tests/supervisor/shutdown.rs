//! The ways in which children are ended.

use filch_actors::prelude::*;
use std::time::Duration;

use filch_supervisor::{ChildError, Shutdown, Strategy, Supervisor};

use crate::common::{Order, SECOND, Stage};

#[test]
fn a_child_that_does_not_end_is_terminated() {
    let stage = Stage::new();
    let stubborn = stage.stubborn("b").shutdown(Shutdown::After(3 * SECOND));
    let supervisor = Supervisor::new(Strategy::OneForOne)
        .child(stage.child("a"))
        .child(stubborn)
        .child(stage.child("c"));
    let supervisor = stage.start(supervisor);
    stage.expect(["+a", "+b", "+c"]);
    let stopped = supervisor.stop();
    stage.expect(["-c: done", "?b"]);
    stage.clock.block_until(1);
    stage.clock.advance(3 * SECOND - Duration::from_nanos(1));
    assert_eq!(stage.timers.pending(), 1, "it still has time");
    stage.clock.advance(Duration::from_nanos(1));
    stage.expect(["-b: terminated", "-a: done"]);
    stopped.wait().unwrap();
    assert_eq!(stage.timers.pending(), 0);
}

#[test]
fn one_is_terminated_at_once_and_another_has_all_the_time() {
    let stage = Stage::new();
    let supervisor = Supervisor::new(Strategy::OneForOne)
        .child(stage.stubborn("patient").shutdown(Shutdown::Unlimited))
        .child(stage.stubborn("at once").shutdown(Shutdown::AtOnce));
    let supervisor = stage.start(supervisor);
    stage.expect(["+patient", "+at once"]);
    let stopped = supervisor.stop();
    stage.expect(["-at once: terminated", "?patient"]);
    assert_eq!(stage.timers.pending(), 0, "nobody looks at the clock");
    stage.order("patient", Order::Finish);
    stage.expect(["-patient: done"]);
    stopped.wait().unwrap();
}

/// A stopped supervisor restarts nobody, and has no name any more when it answers.
#[test]
fn the_end_is_the_end() {
    let stage = Stage::new();
    let supervisor = Supervisor::new(Strategy::OneForOne).name("root");
    let supervisor = stage.start(supervisor.child(stage.child("a")));
    let ended = supervisor.ended();
    supervisor.stop().wait().unwrap();
    assert_eq!(stage.scheduler.whereis("root"), None);
    ended.wait().unwrap();
    // It is gone, and has ended as asked.
    let (stopped, ended) = (supervisor.stop(), supervisor.ended());
    assert!(stopped.is_ready() && ended.is_ready());
    assert_eq!((stopped.wait(), ended.wait()), (Ok(()), Ok(())));
}

/// Without a clock nobody is waited for: all are asked, and terminated.
#[test]
fn timers_that_are_shut_down_end_it() {
    let stage = Stage::new();
    let supervisor = Supervisor::new(Strategy::OneForOne)
        .child(stage.child("a"))
        .child(stage.stubborn("b"));
    let supervisor = stage.start(supervisor);
    stage.expect(["+a", "+b"]);
    let ended = supervisor.end_child("b");
    stage.expect(["?b"]);
    stage.clock.block_until(1);
    stage.timers.shutdown();
    stage.expect(["-b: terminated"]);
    assert!(stage.next().starts_with("-a"));
    assert_eq!(ended.wait(), Err(ChildError::Stopping));
}
