//! The four scenarios of the original's own tests, step for step: each job that waits is a waiter
//! of the clock.

use filch_build_scheduler::PickError;

use crate::{DEPS_TIMEOUT, cache, farm, job, job_on, worker};

#[test]
fn a_single_job() {
    let (farm, clock) = farm();
    let pending = farm.schedule_job(job("job0"));
    clock.block_until(1);
    clock.advance(DEPS_TIMEOUT);
    let w0 = worker(&farm);
    assert_eq!(farm.pick_job(w0).wait().unwrap().id, "job0");
    assert_eq!(farm.on_job_complete(w0, "job0", 0).wait(), Ok(true));
    assert!(pending.is_ready());
    assert_eq!(*pending.wait().unwrap(), 0);
}

#[test]
fn a_cancelled_pick() {
    let (farm, _clock) = farm();
    let picking = farm.pick_job(worker(&farm));
    picking.canceller().cancel();
    assert_eq!(picking.wait(), Err(PickError::Cancelled));
}

#[test]
fn a_job_whose_result_is_cached_goes_first() {
    let (farm, clock) = farm();
    let w0 = worker(&farm);
    cache(&farm, w0, "cached");
    let _uncached = farm.schedule_job(job("uncached"));
    let _cached = farm.schedule_job(job("cached"));
    clock.block_until(2);
    assert_eq!(farm.pick_job(w0).wait().unwrap().id, "cached");
    clock.advance(DEPS_TIMEOUT);
    assert_eq!(farm.pick_job(w0).wait().unwrap().id, "uncached");
}

#[test]
fn a_job_whose_dependency_is_cached_goes_first() {
    let (farm, clock) = farm();
    let w0 = worker(&farm);
    cache(&farm, w0, "job0");
    let _job2 = farm.schedule_job(job("job2"));
    let _job1 = farm.schedule_job(job_on("job1", &["job0"]));
    clock.block_until(2);
    assert_eq!(farm.pick_job(w0).wait().unwrap().id, "job1");
    clock.advance(DEPS_TIMEOUT);
    assert_eq!(farm.pick_job(w0).wait().unwrap().id, "job2");
}
