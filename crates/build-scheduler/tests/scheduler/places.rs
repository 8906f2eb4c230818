//! Rows E7 to E9: the queues of a job, whatever came first.

use std::time::Duration;

use crate::{CACHE_TIMEOUT, DEPS_TIMEOUT, cache, farm_of, job, job_on, pick};

const MOMENT: Duration = Duration::from_nanos(1);

#[test]
fn e7_a_job_waits_at_the_workers_that_have_its_result() {
    let (farm, _clock, [w0, w1]) = farm_of();
    cache(&farm, w0, "cached");
    let _uncached = farm.schedule_job(job("uncached"));
    let _cached = farm.schedule_job(job("cached"));
    assert_eq!(pick(&farm, w1), None);
    assert_eq!(pick(&farm, w0), Some("cached"));
    assert_eq!(pick(&farm, w0), None);
}

#[test]
fn e7_news_of_the_cache_may_come_later() {
    let (farm, clock, [w0, w1]) = farm_of();
    let _a = farm.schedule_job(job("a"));
    let _b = farm.schedule_job(job("b"));
    farm.add_artifact(w0, "a").wait().unwrap();
    assert_eq!((pick(&farm, w1), pick(&farm, w0)), (None, Some("a")));
    // Also when it is in the global queue.
    clock.advance(DEPS_TIMEOUT);
    farm.add_artifact(w1, "b").wait().unwrap();
    assert_eq!(pick(&farm, w1), Some("b"));
    assert_eq!(pick(&farm, w0), None);
}

#[test]
fn e7_news_of_the_cache_reach_a_pick_that_waits() {
    let (farm, _clock, [w0]) = farm_of();
    let _a = farm.schedule_job(job("a"));
    let picking = farm.pick_job(w0);
    assert!(!picking.is_ready());
    farm.add_artifact(w0, "a").wait().unwrap();
    assert_eq!(picking.wait().unwrap().id, "a");
}

#[test]
fn e7_what_a_worker_has_dropped_keeps_no_job_there() {
    let (farm, _clock, [w0]) = farm_of();
    cache(&farm, w0, "a");
    cache(&farm, w0, "lib");
    let _a = farm.schedule_job(job("a"));
    let _b = farm.schedule_job(job_on("b", &["lib"]));
    assert_eq!(farm.remove_artifact(w0, "a").wait(), Ok(true));
    assert_eq!(farm.remove_artifact(w0, "lib").wait(), Ok(true));
    assert_eq!(pick(&farm, w0), None);
}

#[test]
fn e8_an_uncached_job_waits_at_the_workers_that_have_a_dependency() {
    let (farm, clock, [w0, w1, w2]) = farm_of();
    cache(&farm, w0, "x");
    cache(&farm, w1, "y");
    let _elsewhere = farm.schedule_job(job("elsewhere"));
    let _near = farm.schedule_job(job_on("near", &["x", "y", "z"]));
    let _near_too = farm.schedule_job(job_on("near too", &["y"]));
    assert_eq!(pick(&farm, w2), None);
    assert_eq!(pick(&farm, w0), Some("near"));
    assert_eq!(pick(&farm, w1), Some("near too"));
    assert_eq!(pick(&farm, w1), None);
    clock.advance(DEPS_TIMEOUT);
    assert_eq!(pick(&farm, w2), Some("elsewhere"));
}

#[test]
fn e8_a_cached_job_waits_for_its_cache_first() {
    let (farm, clock, [w0, w1]) = farm_of();
    cache(&farm, w0, "a");
    cache(&farm, w1, "lib");
    let _a = farm.schedule_job(job_on("a", &["lib"]));
    clock.advance(CACHE_TIMEOUT - MOMENT);
    assert_eq!(pick(&farm, w1), None);
    clock.advance(MOMENT);
    assert_eq!(pick(&farm, w1), Some("a"));
}

#[test]
fn e8_news_of_a_dependency_may_come_later() {
    let (farm, clock, [w0, w1]) = farm_of();
    cache(&farm, w0, "cached");
    let _uncached = farm.schedule_job(job_on("uncached", &["lib"]));
    let _cached = farm.schedule_job(job_on("cached", &["lib"]));
    let waits = farm.pick_job(w1);
    cache(&farm, w1, "lib");
    assert_eq!(waits.wait().unwrap().id, "uncached");
    assert_eq!(pick(&farm, w1), None, "it still waits for its cache");
    clock.advance(CACHE_TIMEOUT);
    assert_eq!(pick(&farm, w1), Some("cached"));
}

#[test]
fn e9_a_job_comes_into_the_global_queue_after_both_waits() {
    let (farm, clock, [w0, w1]) = farm_of();
    cache(&farm, w0, "cached");
    let _cached = farm.schedule_job(job("cached"));
    clock.advance(DEPS_TIMEOUT);
    assert_eq!(pick(&farm, w1), None, "this wait began after the other one");
    clock.advance(CACHE_TIMEOUT - MOMENT);
    assert_eq!(pick(&farm, w1), None);
    clock.advance(MOMENT);
    assert_eq!(pick(&farm, w1), Some("cached"));
}

#[test]
fn e9_without_the_first_wait_the_second_begins_at_once() {
    let (farm, clock, [w0]) = farm_of();
    let _a = farm.schedule_job(job("a"));
    clock.advance(CACHE_TIMEOUT);
    let _b = farm.schedule_job(job("b"));
    clock.advance(DEPS_TIMEOUT - CACHE_TIMEOUT - MOMENT);
    assert_eq!(pick(&farm, w0), None);
    clock.advance(MOMENT);
    assert_eq!((pick(&farm, w0), pick(&farm, w0)), (Some("a"), None));
    clock.advance(CACHE_TIMEOUT);
    assert_eq!(pick(&farm, w0), Some("b"));
}

#[test]
fn e9_a_shorter_wait_that_begins_later_ends_in_time() {
    let (farm, clock, [w0, w1]) = farm_of();
    let _a = farm.schedule_job(job("a"));
    cache(&farm, w0, "b");
    cache(&farm, w1, "lib");
    let _b = farm.schedule_job(job_on("b", &["lib"]));
    let waits = farm.pick_job(w1);
    clock.advance(CACHE_TIMEOUT);
    assert_eq!(waits.wait().unwrap().id, "b");
}

#[test]
fn e9_waiting_picks_are_served_in_the_order_of_their_arrival() {
    let (farm, clock, [w0, w1]) = farm_of();
    let picks = [w1, w0, w1].map(|worker| farm.pick_job(worker));
    let _jobs = ["a", "b", "c"].map(|id| farm.schedule_job(job(id)));
    clock.advance(DEPS_TIMEOUT);
    let got = picks.map(|picking| picking.wait().unwrap().id);
    assert_eq!(got, ["a", "b", "c"]);
}
