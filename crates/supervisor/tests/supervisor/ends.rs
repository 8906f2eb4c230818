//! Ends that come from outside: the scheduler's shutdown, and a termination.

use std::time::Duration;

use filch_supervisor::{Backoff, Strategy, Supervisor};

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
