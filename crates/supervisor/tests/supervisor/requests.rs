//! Requests at run time, and refusals.

use filch_supervisor::{ChildError, ChildState, Strategy, Supervisor};

use crate::common::{Order, Stage, info, names};

#[test]
fn a_child_is_ended_started_again_and_deleted() {
    let stage = Stage::new();
    let supervisor = Supervisor::new(Strategy::OneForOne).child(stage.child("a"));
    let supervisor = stage.start(supervisor.child(stage.child("b")));
    stage.expect(["+a", "+b"]);
    let a = info(&supervisor, "a").id;
    assert_eq!(
        supervisor.restart_child("a").wait(),
        Err(ChildError::Running)
    );
    assert_eq!(
        supervisor.delete_child("a").wait(),
        Err(ChildError::Running)
    );
    assert_eq!(supervisor.end_child("a").wait(), Ok(a));
    stage.expect(["-a: done"]);
    // It has ended: there is nothing to do.
    assert_eq!(supervisor.end_child(a).wait(), Ok(a));
    assert_eq!(info(&supervisor, "a").state, ChildState::Ended);
    assert_eq!(supervisor.restart_child("a").wait(), Ok(a));
    stage.expect(["+a"]);
    assert_eq!(info(&supervisor, "a").state, ChildState::Running);
    supervisor.end_child("a").wait().unwrap();
    assert_eq!(supervisor.delete_child("a").wait(), Ok(a));
    assert_eq!(supervisor.end_child(a).wait(), Err(ChildError::Unknown));
    // The name is free; the new child is another one, and comes last.
    assert_ne!(supervisor.start_child(stage.child("a")).wait().unwrap(), a);
    let children = supervisor.children().wait().unwrap();
    assert_eq!(names(&children), ["b", "a"]);
    stage.expect(["-a: done", "+a"]);
    supervisor.stop().wait().unwrap();
    stage.expect(["-a: done", "-b: done"]);
}

/// A refused child comes back, and can be started elsewhere.
#[test]
fn a_child_that_is_not_added_comes_back() {
    let stage = Stage::new();
    let supervisor = stage.start(Supervisor::new(Strategy::OneForOne).child(stage.child("a")));
    stage.expect(["+a"]);
    let taken = supervisor.start_child(stage.child("a")).wait().unwrap_err();
    assert_eq!(taken.error, ChildError::NameTaken);
    supervisor.end_child("a").wait().unwrap();
    supervisor.delete_child("a").wait().unwrap();
    supervisor
        .start_child(taken.child.unwrap().into_inner())
        .wait()
        .unwrap();
    stage.expect(["-a: done", "+a"]);

    let unwilling = stage.unwilling("b", 0);
    let refused = supervisor.start_child(unwilling).wait().unwrap_err();
    assert!(
        matches!(refused.error, ChildError::NotStarted(_)),
        "{refused}"
    );
    assert_eq!(names(&supervisor.children().wait().unwrap()), ["a"]);
    // Its second life starts.
    supervisor
        .start_child(refused.child.unwrap().into_inner())
        .wait()
        .unwrap();
    stage.expect(["+b"]);

    supervisor.stop().wait().unwrap();
    let refused = supervisor.start_child(stage.child("c")).wait().unwrap_err();
    assert_eq!(refused.error, ChildError::Stopping);
    assert_eq!(refused.child.unwrap().into_inner().name(), Some("c"));
}

/// A request that comes while a child ends waits for that. Only the end of the supervisor does not
/// wait, and it answers the waiting requests.
#[test]
fn requests_wait_for_each_other() {
    let stage = Stage::new();
    let supervisor = Supervisor::new(Strategy::OneForOne)
        .child(stage.child("a"))
        .child(stage.stubborn("b"));
    let supervisor = stage.start(supervisor);
    stage.expect(["+a", "+b"]);
    let ended = supervisor.end_child("b");
    stage.expect(["?b"]);
    let waits = supervisor.restart_child("b");
    let added = supervisor.start_child(stage.child("c"));
    assert_eq!(info(&supervisor, "b").state, ChildState::Ending);
    stage.expect_no_more();
    let stopped = supervisor.stop();
    assert_eq!(ended.wait(), Err(ChildError::Stopping));
    assert_eq!(waits.wait(), Err(ChildError::Stopping));
    let refused = added.wait().unwrap_err();
    assert_eq!(refused.error, ChildError::Stopping);
    assert_eq!(refused.child.unwrap().into_inner().name(), Some("c"));
    stage.order("b", Order::Finish);
    stage.expect(["-b: done", "-a: done"]);
    stopped.wait().unwrap();
}
