//! Jobs that nobody wants any more.

use filch_build_scheduler::{JobError, ReportError};

use crate::{DEPS_TIMEOUT, farm_of, job, job_on, pick};

#[test]
fn a_job_that_waits_goes() {
    let (farm, clock, [w0]) = farm_of();
    let all = [farm.schedule_job(job("a")), farm.schedule_job(job("a"))];
    assert_eq!(farm.withdraw_job("a").wait(), Ok(true));
    for pending in all {
        assert_eq!(pending.wait(), Err(JobError::Withdrawn));
    }
    clock.advance(DEPS_TIMEOUT);
    assert_eq!(pick(&farm, w0), None);
    assert_eq!(farm.withdraw_job("a").wait(), Ok(false));
}

#[test]
fn a_job_that_runs_goes_and_its_worker_learns_it_when_it_reports() {
    let (farm, clock, [w0]) = farm_of();
    let ids = ["fails", "is given back", "is made"];
    let all = ids.map(|id| farm.schedule_job(job(id)));
    clock.advance(DEPS_TIMEOUT);
    assert_eq!(ids.map(|_| pick(&farm, w0)), ids.map(Some));
    for (id, pending) in ids.into_iter().zip(all) {
        assert_eq!(farm.withdraw_job(id).wait(), Ok(true));
        assert_eq!(pending.wait(), Err(JobError::Withdrawn));
    }
    let failed = farm.on_job_failed(w0, ids[0], 1).wait();
    let given_back = farm.give_back(w0, ids[1]).wait();
    assert_eq!([failed, given_back], [Err(ReportError::NotRunning); 2]);
    assert_eq!(farm.on_job_complete(w0, ids[2], 1).wait(), Ok(false));
    assert_eq!(farm.locate_artifact(ids[2]).wait(), Ok(Some(w0)));
    assert_eq!(farm.counts().wait().unwrap().jobs, 0);
}

#[test]
fn another_job_of_that_id_may_come() {
    let (farm, clock, [w0]) = farm_of();
    let _first = farm.schedule_job(job("a"));
    clock.advance(DEPS_TIMEOUT);
    assert_eq!(pick(&farm, w0), Some("a"));
    assert_eq!(farm.withdraw_job("a").wait(), Ok(true));
    let second = farm.schedule_job(job_on("a", &["x"]));
    // The first one's worker may not give back the second one, but its result is one.
    assert_eq!(farm.give_back(w0, "a").wait(), Err(ReportError::NotRunning));
    assert_eq!(farm.on_job_complete(w0, "a", 7).wait(), Ok(true));
    assert_eq!(second.wait().map(|result| *result), Ok(7));
}

#[test]
fn a_dropped_pick_of_a_withdrawn_job_gives_nothing_back() {
    let (farm, clock, [w0, w1]) = farm_of();
    let _first = farm.schedule_job(job("a"));
    clock.advance(DEPS_TIMEOUT);
    let picking = farm.pick_job(w0);
    assert!(picking.is_ready());
    assert_eq!(farm.withdraw_job("a").wait(), Ok(true));
    let _second = farm.schedule_job(job("a"));
    drop(picking);
    assert_eq!(pick(&farm, w1), None, "the second one waits");
    clock.advance(DEPS_TIMEOUT);
    assert_eq!(pick(&farm, w1), Some("a"));
}
