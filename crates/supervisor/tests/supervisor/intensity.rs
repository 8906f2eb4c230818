//! The failures of children that a supervisor survives.

use std::time::Duration;

use filch_actors::prelude::*;
use filch_scheduler::{Event, ExitReason};
use filch_supervisor::{ChildError, ChildRef, Failure, Strategy, Supervisor, SupervisorError};

use crate::common::{Order, SECOND, Stage, until};

fn too_many(child: &str, reason: ExitReason) -> SupervisorError {
    let child = ChildRef::from(child);
    SupervisorError::Failed(Failure::TooManyFailures { child, reason })
}

#[test]
fn one_failure_too_many_ends_all() {
    let stage = Stage::new();
    let supervisor = Supervisor::new(Strategy::OneForOne)
        .intensity(2, 10 * SECOND)
        .name("root")
        .child(stage.child("a"))
        .child(stage.child("b"))
        .child(stage.child("c"));
    let supervisor = stage.start(supervisor);
    stage.expect(["+a", "+b", "+c"]);
    let watcher = stage
        .scheduler
        .spawn_with(|mut inbox| async move { inbox.next().await })
        .unwrap();
    stage.scheduler.monitor(watcher.pid(), stage.pid("root"));
    let ended = supervisor.ended();

    stage.order("b", Order::Fail);
    stage.expect(["-b: failed: broken", "+b"]);
    stage.order("a", Order::Fail);
    stage.expect(["-a: failed: broken", "+a"]);
    // A failure a whole period ago still counts.
    stage.clock.advance(10 * SECOND);
    stage.order("b", Order::Fail);
    stage.expect(["-b: failed: broken", "-c: done", "-a: done"]);
    let reason = ExitReason::Failed("broken".into());
    assert_eq!(ended.wait(), Err(too_many("b", reason)));
    stage.expect_no_more();

    let Event::Down(down) = watcher.join().unwrap() else {
        panic!("it watches the supervisor");
    };
    let ExitReason::Failed(why) = down.reason else {
        panic!("{}", down.reason);
    };
    let failure = too_many("b", ExitReason::Failed("broken".into()));
    assert_eq!(*why, *failure.to_string());
}

/// Nobody must ask in time: every handle gets the outcome, each time it asks.
#[test]
fn how_it_ended_is_known_afterwards() {
    let stage = Stage::new();
    let supervisor = Supervisor::new(Strategy::OneForOne)
        .intensity(0, SECOND)
        .name("root");
    let supervisor = stage.start(supervisor.child(stage.child("a")));
    let clone = supervisor.clone();
    stage.order("a", Order::Fail);
    until(|| stage.scheduler.whereis("root").is_none());
    let failure = too_many("a", ExitReason::Failed("broken".into()));
    for handle in [&supervisor, &supervisor, &clone] {
        // From the second time on, the supervisor is gone.
        assert_eq!(handle.ended().wait(), Err(failure.clone()));
        assert_eq!(handle.stop().wait(), Err(failure.clone()));
    }
    assert_eq!(clone.children().wait(), Err(ChildError::Stopping));
}

#[test]
fn what_was_long_ago_is_forgotten() {
    let stage = Stage::new();
    let supervisor = Supervisor::new(Strategy::OneForOne).intensity(1, 10 * SECOND);
    let supervisor = stage.start(supervisor.child(stage.child("a")));
    stage.expect(["+a"]);
    for _ in 0..5 {
        stage.order("a", Order::Fail);
        stage.expect(["-a: failed: broken", "+a"]);
        stage.clock.advance(10 * SECOND + Duration::from_nanos(1));
    }
    supervisor.stop().wait().unwrap();
}

/// A restart that does not succeed is another failure.
#[test]
fn a_child_that_does_not_start_again() {
    let stage = Stage::new();
    let supervisor = Supervisor::new(Strategy::OneForAll)
        .intensity(2, SECOND)
        .child(stage.child("a"))
        .child(stage.unwilling("b", 1))
        .child(stage.child("c"));
    let supervisor = stage.start(supervisor);
    stage.expect(["+a", "+b", "+c"]);
    stage.order("c", Order::Fail);
    stage.expect(["-c: failed: broken", "-b: done", "-a: done", "+a"]);
    // It fails once more: the children started so far are ended again.
    stage.expect(["-a: done", "+a", "+b", "+c"]);
    let ended = supervisor.ended();
    stage.order("a", Order::Fail);
    stage.expect(["-a: failed: broken", "-c: done", "-b: done"]);
    let reason = ExitReason::Failed("broken".into());
    assert_eq!(ended.wait(), Err(too_many("a", reason)));
}
