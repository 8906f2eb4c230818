//! Many children of one kind, which come and go.

use filch_supervisor::{ChildError, ChildState, Restart, Strategy, Supervisor};

use crate::common::{Order, SECOND, Stage, names, until};

#[test]
fn they_come_and_go() {
    let stage = Stage::new();
    let supervisor = stage.start(Supervisor::new(Strategy::Dynamic).intensity(10, SECOND));
    let start = |name| {
        let child = stage.child(name).restart(Restart::Transient);
        let id = supervisor.start_child(child).wait().unwrap();
        stage.expect([&format!("+{name}")]);
        id
    };
    let (a, b, _c) = (start("a"), start("b"), start("c"));
    stage.order("a", Order::Fail);
    stage.expect(["-a: failed: broken", "+a"]);
    stage.order("c", Order::Finish);
    stage.expect(["-c: done"]);
    until(|| supervisor.children().wait().unwrap().len() == 2);
    assert_eq!(supervisor.end_child(b).wait(), Ok(b));
    stage.expect(["-b: done"]);
    // An ended child is deleted.
    assert_eq!(supervisor.restart_child(b).wait(), Err(ChildError::Unknown));
    let children = supervisor.children().wait().unwrap();
    assert_eq!(names(&children), ["a"]);
    assert_eq!(
        (children[0].id, children[0].state),
        (a, ChildState::Running)
    );
    supervisor.stop().wait().unwrap();
    stage.expect(["-a: done"]);
    stage.expect_no_more();
}

/// No child waits for another's end.
#[test]
fn at_the_end_all_are_asked_at_once() {
    let stage = Stage::new();
    let supervisor = Supervisor::new(Strategy::Dynamic)
        .child(stage.stubborn("a"))
        .child(stage.stubborn("b"));
    let supervisor = stage.start(supervisor);
    stage.expect(["+a", "+b"]);
    let stopped = supervisor.stop();
    stage.clock.block_until(1);
    let mut asked = [stage.next(), stage.next()];
    asked.sort();
    assert_eq!(asked, ["?a", "?b"]);
    stage.clock.advance(5 * SECOND);
    let mut ended = [stage.next(), stage.next()];
    ended.sort();
    assert_eq!(ended, ["-a: terminated", "-b: terminated"]);
    stopped.wait().unwrap();
}

#[test]
fn there_may_be_many() {
    const MANY: usize = 2_000;
    let stage = Stage::new();
    let supervisor = stage.start(Supervisor::new(Strategy::Dynamic).intensity(MANY, SECOND));
    let started: Vec<_> = (0..MANY)
        .map(|_| supervisor.start_child(stage.unnamed()))
        .collect();
    let mut ids: Vec<_> = started
        .into_iter()
        .map(|answer| answer.wait().unwrap())
        .collect();
    assert!(ids.is_sorted());
    let children = supervisor.children().wait().unwrap();
    for child in children.iter().step_by(2) {
        stage
            .scheduler
            .send(child.pid.unwrap(), Order::Fail)
            .unwrap();
    }
    for id in ids.drain(..MANY / 4) {
        assert_eq!(supervisor.end_child(id).wait(), Ok(id));
    }
    let children = supervisor.children().wait().unwrap();
    assert_eq!(
        children.iter().map(|child| child.id).collect::<Vec<_>>(),
        ids
    );
    supervisor.stop().wait().unwrap();
    until(|| stage.scheduler.processes().is_empty());
}
