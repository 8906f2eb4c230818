//! The children that begin anew, and their order.

use filch_supervisor::{ChildState, Restart, Strategy, Supervisor, SupervisorHandle};

use crate::common::{Order, SECOND, Stage, Test, info, names, settle, until};

/// Starts three children.
fn three(stage: &Stage, strategy: Strategy) -> SupervisorHandle<Test> {
    let supervisor = Supervisor::new(strategy)
        .child(stage.child("a"))
        .child(stage.child("b"))
        .child(stage.child("c"));
    let supervisor = stage.start(supervisor);
    stage.expect(["+a", "+b", "+c"]);
    supervisor
}

/// Stops them: the last one first, each waited for.
fn stop(stage: &Stage, supervisor: &SupervisorHandle<Test>) {
    supervisor.stop().wait().unwrap();
    stage.expect(["-c: done", "-b: done", "-a: done"]);
    stage.expect_no_more();
}

#[test]
fn a_strategy_says_which_children_begin_anew_with_one_that_fails() {
    for (strategy, notes) in [
        (Strategy::OneForOne, &["+b"][..]),
        (
            Strategy::OneForAll,
            &["-c: done", "-a: done", "+a", "+b", "+c"],
        ),
        (Strategy::RestForOne, &["-c: done", "+b", "+c"]),
    ] {
        let stage = Stage::new();
        let supervisor = three(&stage, strategy);
        stage.order("b", Order::Fail);
        stage.expect(["-b: failed: broken"]);
        for note in notes {
            assert_eq!(stage.next(), *note, "{strategy:?}");
        }
        stop(&stage, &supervisor);
    }
}

#[test]
fn who_is_restarted_after_which_end() {
    let stage = Stage::new();
    let supervisor = Supervisor::new(Strategy::OneForOne)
        .intensity(10, SECOND)
        .child(stage.child("permanent"))
        .child(stage.child("transient").restart(Restart::Transient))
        .child(stage.child("temporary").restart(Restart::Temporary))
        .child(stage.child("passing").restart(Restart::Temporary));
    let supervisor = stage.start(supervisor);
    stage.expect(["+permanent", "+transient", "+temporary", "+passing"]);

    stage.order("permanent", Order::Finish);
    stage.expect(["-permanent: done", "+permanent"]);
    stage.order("permanent", Order::Fail);
    stage.expect(["-permanent: failed: broken", "+permanent"]);
    stage.order("transient", Order::Fail);
    stage.expect(["-transient: failed: broken", "+transient"]);
    stage.order("transient", Order::Finish);
    stage.expect(["-transient: done"]);
    stage.order("temporary", Order::Fail);
    stage.expect(["-temporary: failed: broken"]);
    stage.order("passing", Order::Finish);
    stage.expect(["-passing: done"]);
    until(|| names(&supervisor.children().wait().unwrap()) == ["permanent", "transient"]);
    until(|| info(&supervisor, "transient").state == ChildState::Ended);
    settle(&supervisor);
    stage.expect_no_more();
}
