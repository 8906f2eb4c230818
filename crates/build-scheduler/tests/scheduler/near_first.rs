//! The option by which a job does not wait in vain, and a worker takes the nearest job first.

use filch_build_scheduler::Config;
use filch_timers::FakeClock;

use crate::{CACHE_TIMEOUT, DEPS_TIMEOUT, Farm, cache, job, job_on, pick, start, worker};

fn near_first() -> (Farm, FakeClock) {
    start(Config::new(CACHE_TIMEOUT, DEPS_TIMEOUT).near_first())
}

#[test]
fn a_job_that_nobody_is_near_to_does_not_wait() {
    let (farm, _clock) = near_first();
    let w0 = worker(&farm);
    let _alone = farm.schedule_job(job("alone"));
    assert_eq!(pick(&farm, w0), Some("alone"));
    let _far = farm.schedule_job(job_on("far", &["x", "y"]));
    assert_eq!(pick(&farm, w0), Some("far"));
}

#[test]
fn a_job_waits_for_those_that_are_near() {
    let (farm, clock) = near_first();
    let [w0, w1] = [worker(&farm), worker(&farm)];
    cache(&farm, w0, "x");
    let _near = farm.schedule_job(job_on("near", &["x", "y"]));
    assert_eq!(pick(&farm, w1), None);
    clock.advance(DEPS_TIMEOUT);
    assert_eq!(pick(&farm, w1), Some("near"));
    cache(&farm, w0, "cached");
    let _cached = farm.schedule_job(job_on("cached", &["z"]));
    // w0 is near in the second wait as well.
    clock.advance(CACHE_TIMEOUT);
    assert_eq!(pick(&farm, w1), None);
    clock.advance(DEPS_TIMEOUT);
    assert_eq!(pick(&farm, w1), Some("cached"));
}

#[test]
fn the_wait_is_over_when_the_last_one_that_was_near_has_gone() {
    let (farm, _clock) = near_first();
    let [w0, w1, w2] = [worker(&farm), worker(&farm), worker(&farm)];
    for (holder, artifact) in [(w0, "x"), (w1, "x"), (w1, "cached"), (w1, "y")] {
        cache(&farm, holder, artifact);
    }
    let _x = farm.schedule_job(job_on("needs x", &["x"]));
    let _cached = farm.schedule_job(job_on("cached", &["x"]));
    let _y = farm.schedule_job(job_on("needs y", &["y"]));
    assert_eq!(farm.remove_artifact(w0, "x").wait(), Ok(true));
    assert_eq!(pick(&farm, w2), None, "w1 has it");
    assert_eq!(farm.remove_artifact(w1, "x").wait(), Ok(true));
    assert_eq!(pick(&farm, w2), Some("needs x"));
    assert_eq!(farm.remove_artifact(w1, "cached").wait(), Ok(true));
    assert_eq!(pick(&farm, w2), Some("cached"));
    assert_eq!(pick(&farm, w2), None);
    assert!(farm.remove_worker(w1).wait().is_ok());
    assert_eq!(pick(&farm, w2), Some("needs y"));
}

#[test]
fn a_pick_that_waits_gets_what_waits_for_nobody_any_more() {
    let (farm, _clock) = near_first();
    let [w0, w1] = [worker(&farm), worker(&farm)];
    cache(&farm, w0, "x");
    let picking = farm.pick_job(w1);
    let _x = farm.schedule_job(job_on("needs x", &["x"]));
    assert!(!picking.is_ready());
    assert_eq!(farm.remove_artifact(w0, "x").wait(), Ok(true));
    // Makes a lost job an error instead of a hang.
    picking.canceller().cancel();
    assert_eq!(picking.wait().map(|job| job.id), Ok("needs x"));
}

#[test]
fn a_job_that_nobody_is_near_to_does_not_starve() {
    let (farm, _clock) = near_first();
    let w0 = worker(&farm);
    cache(&farm, w0, "x");
    let _far = farm.schedule_job(job("far"));
    let picked = (0..100).map(|_| {
        let _near = farm.schedule_job(job_on("near", &["x"]));
        let id = pick(&farm, w0).unwrap();
        assert_eq!(farm.on_job_complete(w0, id, 0).wait(), Ok(true));
        assert_eq!(farm.remove_artifact(w0, id).wait(), Ok(true));
        id
    });
    assert_eq!({ picked }.position(|id| id == "far"), Some(31));
}

#[test]
fn the_nearest_job_goes_first() {
    let (farm, clock) = near_first();
    let w0 = worker(&farm);
    for _ in 0..10 {
        let _far = farm.schedule_job(job("far"));
        cache(&farm, w0, "x");
        let _near = farm.schedule_job(job_on("near", &["x"]));
        cache(&farm, w0, "cached");
        let _cached = farm.schedule_job(job("cached"));
        // Now all of them are in the global queue as well.
        clock.advance(CACHE_TIMEOUT + DEPS_TIMEOUT);
        for id in ["cached", "near", "far"] {
            assert_eq!(pick(&farm, w0), Some(id));
            assert_eq!(farm.on_job_complete(w0, id, 0).wait(), Ok(true));
            assert_eq!(farm.remove_artifact(w0, id).wait(), Ok(true));
        }
        assert_eq!(farm.remove_artifact(w0, "x").wait(), Ok(true));
    }
}
