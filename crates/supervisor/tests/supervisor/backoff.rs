//! Pauses before restarts.

use filch_actors::prelude::*;
use std::time::Duration;

use filch_supervisor::{Backoff, ChildError, ChildState, Strategy, Supervisor, SupervisorHandle};

use crate::common::{Order, SECOND, Stage, Test, info, settle};

fn with_backoff(stage: &Stage, strategy: Strategy) -> SupervisorHandle<Test> {
    let supervisor = Supervisor::new(strategy)
        .intensity(100, SECOND)
        .backoff(Backoff::exponential(SECOND, 4 * SECOND))
        .child(stage.child("a"))
        .child(stage.child("b"));
    let supervisor = stage.start(supervisor);
    stage.expect(["+a", "+b"]);
    supervisor
}

#[test]
fn they_grow_and_begin_anew() {
    let stage = Stage::new();
    let supervisor = with_backoff(&stage, Strategy::OneForOne);
    for pause in [1, 2, 4, 4] {
        stage.order("a", Order::Fail);
        stage.expect(["-a: failed: broken"]);
        stage.clock.block_until(1);
        let waiting = info(&supervisor, "a");
        let until = stage.timers.now() + pause * SECOND;
        assert_eq!(waiting.state, ChildState::Waiting { until });
        assert_eq!((waiting.pid, stage.scheduler.whereis("a")), (None, None));
        stage
            .clock
            .advance(pause * SECOND - Duration::from_nanos(1));
        stage.expect_no_more();
        stage.clock.advance(Duration::from_nanos(1));
        stage.expect(["+a"]);
    }
    // A life as long as the longest pause ends the row.
    supervisor.children().wait().unwrap();
    stage.clock.advance(4 * SECOND);
    stage.order("a", Order::Fail);
    stage.expect(["-a: failed: broken"]);
    stage.clock.block_until(1);
    stage.clock.advance(SECOND);
    stage.expect(["+a"]);
}

/// The group is ended at once, and started after the pause.
#[test]
fn the_group_waits_without_processes() {
    let stage = Stage::new();
    let supervisor = with_backoff(&stage, Strategy::OneForAll);
    stage.order("a", Order::Fail);
    stage.expect(["-a: failed: broken", "-b: done"]);
    settle(&supervisor);
    assert_eq!(info(&supervisor, "b").state, ChildState::Ended);
    stage.clock.advance(SECOND);
    stage.expect(["+a", "+b"]);
}

/// A supervisor whose child waits does everything else meanwhile.
#[test]
fn a_pause_holds_up_nobody() {
    let stage = Stage::new();
    let supervisor = with_backoff(&stage, Strategy::OneForOne);
    stage.order("a", Order::Fail);
    stage.expect(["-a: failed: broken"]);
    stage.clock.block_until(1);
    stage.order("b", Order::Fail);
    stage.expect(["-b: failed: broken"]);
    let refused = supervisor.restart_child("a").wait();
    assert_eq!(refused, Err(ChildError::Restarting));
    let refused = supervisor.delete_child("a").wait();
    assert_eq!(refused, Err(ChildError::Restarting));
    // The pause is cancelled, and the child starts at once.
    supervisor.end_child("a").wait().unwrap();
    assert_eq!(info(&supervisor, "a").state, ChildState::Ended);
    supervisor.restart_child("a").wait().unwrap();
    stage.expect(["+a"]);
    supervisor.stop().wait().unwrap();
    stage.expect(["-a: done"]);
    stage.expect_no_more();
    assert_eq!(stage.timers.pending(), 0);
}
