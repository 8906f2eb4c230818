//! Rows E7 to E9: the queues of a job, whatever came first.

use std::time::Duration;

use crate::{CACHE_TIMEOUT, DEPS_TIMEOUT, cache, farm_of, job, job_on, pick};

const MOMENT: Duration = Duration::from_nanos(1);

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
