//! The failures of children that a supervisor survives.

use filch_actors::prelude::*;
use filch_scheduler::{Event, ExitReason};
use filch_supervisor::{ChildRef, Failure, Strategy, Supervisor, SupervisorError};

use crate::common::{Order, SECOND, Stage};

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
