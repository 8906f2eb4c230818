//! The option by which a job does not wait in vain, and a worker takes the nearest job first.

use filch_build_scheduler::Config;
use filch_timers::FakeClock;

use crate::{CACHE_TIMEOUT, DEPS_TIMEOUT, Farm, cache, job, job_on, pick, start, worker};

fn near_first() -> (Farm, FakeClock) {
    start(Config::new(CACHE_TIMEOUT, DEPS_TIMEOUT).near_first())
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
