//! Supervisors under supervisors.

use filch_actors::prelude::*;
use filch_scheduler::ExitReason;
use filch_supervisor::{
    Child, ChildError, ChildRef, ChildState, Failure, Strategy, Supervisor, SupervisorError,
};

use crate::common::{Order, SECOND, Stage, Test, info, until};

/// Two children under `inner`, between two others; the life of `inner`'s `y` of that number does
/// not start.
fn tree(stage: &Stage, unwilling: usize) -> Supervisor<Test> {
    let (x, y) = (stage.makers("x", usize::MAX), stage.makers("y", unwilling));
    let inner = Child::supervisor("inner", move || {
        Supervisor::new(Strategy::OneForAll).child(x()).child(y())
    });
    Supervisor::new(Strategy::OneForOne)
        .child(stage.child("a"))
        .child(inner)
        .child(stage.child("b"))
}

#[test]
fn they_start_and_end_in_order() {
    let stage = Stage::new();
    let root = stage.start(tree(&stage, usize::MAX));
    stage.expect(["+a", "+x", "+y", "+b"]);
    assert_eq!(info(&root, "inner").state, ChildState::Running);
    assert_eq!(info(&root, "inner").pid, stage.scheduler.whereis("inner"));
    root.stop().wait().unwrap();
    stage.expect(["-b: done", "-y: done", "-x: done", "-a: done"]);
    stage.expect_no_more();
    until(|| stage.scheduler.processes().is_empty());
}

/// The inner one survives some failures, and then fails itself; the outer one restarts it.
#[test]
fn a_supervisor_that_fails_is_restarted() {
    let stage = Stage::new();
    let root = stage.start(tree(&stage, usize::MAX));
    stage.expect(["+a", "+x", "+y", "+b"]);
    stage.order("x", Order::Fail);
    stage.expect(["-x: failed: broken", "-y: done", "+x", "+y"]);
    let first = stage.pid("inner");
    stage.order("y", Order::Fail);
    stage.expect(["-y: failed: broken", "-x: done", "+x", "+y"]);
    assert_ne!(stage.pid("inner"), first);

    // Once more, and the outer one gives up as well.
    let ended = root.ended();
    stage.order("y", Order::Fail);
    stage.expect(["-y: failed: broken", "-x: done", "+x", "+y"]);
    stage.order("x", Order::Fail);
    stage.expect(["-x: failed: broken", "-y: done", "-b: done", "-a: done"]);
    let Err(SupervisorError::Failed(Failure::TooManyFailures { child, reason })) = ended.wait()
    else {
        panic!("it has failed");
    };
    assert_eq!(child, ChildRef::from("inner"));
    let ExitReason::Failed(why) = reason else {
        panic!("{reason}");
    };
    assert!(
        why.contains("the last one was `x`: failed: broken"),
        "{why}"
    );
    stage.expect_no_more();
}

/// The children started below are ended, then those above.
#[test]
fn a_start_that_fails_below() {
    let stage = Stage::new();
    let started = tree(&stage, 0).start(&stage.scheduler, &stage.timers);
    stage.expect(["+a", "+x", "-x: done", "-a: done"]);
    let Err(SupervisorError::Failed(Failure::NotStarted { child, reason })) =
        started.unwrap().wait()
    else {
        panic!("it has failed");
    };
    assert_eq!(child, ChildRef::from("inner"));
    assert!(reason.to_string().contains("`y` did not start"), "{reason}");
    stage.expect_no_more();
}

#[test]
fn the_handle_to_one_below() {
    let stage = Stage::new();
    let root = stage.start(tree(&stage, usize::MAX));
    stage.expect(["+a", "+x", "+y", "+b"]);
    let below = |name: &str| root.below(name).wait();
    assert_eq!(below("a").unwrap_err(), ChildError::Unknown);
    assert_eq!(below("nobody").unwrap_err(), ChildError::Unknown);
    let inner = below("inner").unwrap();
    inner.start_child(stage.child("z")).wait().unwrap();
    stage.expect(["+z"]);
    // The handle does not follow it to its next life.
    root.end_child("inner").wait().unwrap();
    stage.expect(["-z: done", "-y: done", "-x: done"]);
    assert_eq!(inner.children().wait(), Err(ChildError::Stopping));
    assert_eq!(below("inner").unwrap_err(), ChildError::Unknown);
    root.restart_child("inner").wait().unwrap();
    stage.expect(["+x", "+y"]);
    assert_eq!(below("inner").unwrap().children().wait().unwrap().len(), 2);
}

/// A terminated supervisor can end nobody, and still takes all below with it.
#[test]
fn the_end_of_one_above_ends_those_below() {
    let stage = Stage::new();
    let root = stage.start(tree(&stage, usize::MAX).name("root").intensity(9, SECOND));
    stage.expect(["+a", "+x", "+y", "+b"]);
    let ended = root.ended();
    let others = ["a", "b", "x", "y", "inner"].map(|name| {
        let end = stage.scheduler.ended(stage.pid(name));
        stage.scheduler.spawn(end).unwrap()
    });
    stage.scheduler.terminate(stage.pid("root")).unwrap();
    for told in [ended.wait(), root.stop().wait()] {
        assert_eq!(told, Err(SupervisorError::Terminated));
    }
    let [a, b, x, y, inner] = others.map(|end| end.join().unwrap());
    for linked in [a, b] {
        assert!(matches!(linked, ExitReason::Linked { .. }), "{linked}");
    }
    // These were ended by their supervisor, which had heard of it.
    assert_eq!([x, y, inner], [const { ExitReason::Done }; 3]);
    until(|| stage.scheduler.processes().is_empty());
}
