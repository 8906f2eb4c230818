//! Ends that come from outside: the scheduler's shutdown, and a termination.

use std::time::Duration;

use filch_supervisor::{Backoff, Strategy, Supervisor, SupervisorError};

use crate::common::{Order, SECOND, Stage};

const PATIENCE: Duration = Duration::from_secs(60);

/// All are asked at once, so a child may end before its supervisor is asked: that is no failure,
/// and restarts nobody.
#[test]
fn a_shutdown_is_no_failure() {
    for _ in 0..100 {
        let stage = Stage::new();
        let supervisor = Supervisor::new(Strategy::OneForAll)
            .child(stage.child("a"))
            .child(stage.child("b"));
        let ended = stage.start(supervisor).ended();
        let report = stage.scheduler.shutdown(PATIENCE).unwrap();
        assert!(report.is_clean() && report.aborted == 0, "{report}");
        assert_eq!(ended.wait(), Ok(()));
    }
}

/// The shutdown comes while a child fails and is restarted, or waits for that.
#[test]
fn a_shutdown_in_the_middle_of_restarts() {
    for backoff in [Backoff::NONE, Backoff::exponential(SECOND, SECOND)] {
        for _ in 0..50 {
            let stage = Stage::new();
            let supervisor = Supervisor::new(Strategy::OneForAll)
                .intensity(10, SECOND)
                .backoff(backoff)
                .child(stage.child("a"))
                .child(stage.child("b"))
                .child(stage.child("c"));
            let ended = stage.start(supervisor).ended();
            stage.order("b", Order::Fail);
            let report = stage.scheduler.shutdown(PATIENCE).unwrap();
            assert!(report.is_clean() && report.aborted == 0, "{report}");
            assert_eq!(ended.wait(), Ok(()));
        }
    }
}

/// The supervisor can do nothing any more; its children are linked to it.
#[test]
fn a_termination_takes_the_children_along() {
    let stage = Stage::new();
    let supervisor = Supervisor::new(Strategy::OneForOne)
        .name("root")
        .child(stage.child("a"))
        .child(stage.child("b"));
    let supervisor = stage.start(supervisor);
    stage.expect(["+a", "+b"]);
    let (ended, asked) = (supervisor.ended(), supervisor.children());
    asked.wait().unwrap();
    stage.scheduler.terminate(stage.pid("root")).unwrap();
    let mut ends = [stage.next(), stage.next()];
    ends.sort();
    assert_eq!(ends, ["-a: linked", "-b: linked"]);
    assert_eq!(ended.wait(), Err(SupervisorError::Terminated));
    assert_eq!(supervisor.stop().wait(), Err(SupervisorError::Terminated));
    stage.expect_no_more();
}
