//! Rows E1 to E6, and E10 to E12: the calls.

use std::collections::HashSet;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use filch_build_scheduler::{Job, JobError, PickError, ReportError};

use crate::{CACHE_TIMEOUT, DEPS_TIMEOUT, cache, farm, farm_of, job, job_on, pick, worker};

#[test]
fn e1_a_job_is_scheduled_once_and_its_result_awaited_by_all() {
    let (farm, clock) = farm();
    let first = farm.schedule_job(job("a"));
    let second = farm.schedule_job(job("a"));
    clock.advance(DEPS_TIMEOUT);
    let w0 = worker(&farm);
    assert_eq!(pick(&farm, w0), Some("a"));
    let third = farm.schedule_job(job("a"));
    assert_eq!(pick(&farm, w0), None, "it is there already, and runs");
    assert!([&first, &second, &third].iter().all(|job| !job.is_ready()));
    assert_eq!(farm.on_job_complete(w0, "a", 7).wait(), Ok(true));
    for pending in [first, second, third] {
        assert!(pending.is_ready());
        assert_eq!(*pending.wait().unwrap(), 7);
    }
    // The next one is another job.
    let again = farm.schedule_job(job("a"));
    assert!(!again.is_ready());
    assert_eq!(pick(&farm, w0), Some("a"));
}

#[test]
fn e1_another_job_of_the_same_id_is_refused() {
    let (farm, _clock) = farm();
    let pending = farm.schedule_job(job_on("a", &["b"]));
    let other_content = Job::with_dependencies("a", ["b"], 1);
    for other in [job("a"), job_on("a", &["c"]), other_content] {
        let refused = farm.schedule_job(other);
        assert_eq!(refused.wait(), Err(JobError::Conflict));
    }
    assert!(!pending.is_ready());
    assert_eq!(farm.counts().wait().unwrap().jobs, 1);
}

#[test]
fn e2_a_pick_waits_for_a_job() {
    let (farm, clock, [w0]) = farm_of();
    let picking = farm.pick_job(w0);
    let waits = thread::spawn(move || picking.wait());
    let _pending = farm.schedule_job(job("a"));
    clock.advance(DEPS_TIMEOUT);
    assert_eq!(waits.join().unwrap().unwrap().id, "a");
}

#[test]
fn e2_a_pick_stops_at_once_when_it_is_cancelled() {
    let (farm, clock, [w0]) = farm_of();
    let picking = farm.pick_job(w0);
    let canceller = picking.canceller();
    let waits = thread::spawn(move || picking.wait());
    canceller.cancel();
    assert_eq!(waits.join().unwrap(), Err(PickError::Cancelled));
    canceller.cancel();
    drop(farm.pick_job(w0));
    assert_eq!(farm.counts().wait().unwrap().picks, 0);
    // The job goes to a pick that waits.
    let _pending = farm.schedule_job(job("a"));
    clock.advance(DEPS_TIMEOUT);
    assert_eq!(pick(&farm, w0), Some("a"));
}

#[test]
fn e2_a_job_that_a_dropped_pick_got_is_given_back() {
    let (farm, _clock, [w0, w1]) = farm_of();
    cache(&farm, w0, "a");
    let pending = farm.schedule_job(job("a"));
    drop(farm.pick_job(w0));
    assert_eq!(pick(&farm, w1), Some("a"));
    assert_eq!(farm.on_job_complete(w1, "a", 1).wait(), Ok(true));
    assert_eq!(*pending.wait().unwrap(), 1);
}

#[test]
fn e3_a_job_that_nobody_scheduled_is_known_to_be_in_the_cache() {
    let (farm, clock, [w0, w1]) = farm_of();
    assert_eq!(farm.on_job_complete(w0, "a", 1).wait(), Ok(false));
    let pending = farm.schedule_job(job("a"));
    // Another worker has made it meanwhile.
    assert_eq!(pick(&farm, w0), Some("a"));
    assert_eq!(farm.on_job_complete(w1, "a", 2).wait(), Ok(true));
    assert_eq!(*pending.wait().unwrap(), 2);
    assert_eq!(farm.on_job_complete(w0, "a", 3).wait(), Ok(false));
    // It waits in no queue, so nobody gets it.
    let waiting = farm.schedule_job(job("b"));
    assert_eq!(farm.on_job_complete(w1, "b", 4).wait(), Ok(true));
    clock.advance(DEPS_TIMEOUT);
    assert_eq!((pick(&farm, w0), pick(&farm, w1)), (None, None));
    assert_eq!(*waiting.wait().unwrap(), 4);
}

#[test]
fn e4_an_artifact_is_located_on_any_worker_that_has_it() {
    let (farm, _clock, [w0, w1, w2]) = farm_of();
    assert_eq!(farm.locate_artifact("a").wait(), Ok(None));
    cache(&farm, w0, "a");
    farm.add_artifact(w2, "a").wait().unwrap();
    cache(&farm, w1, "b");
    let located = |id| farm.locate_artifact(id).wait().unwrap();
    let seen: HashSet<_> = (0..64).filter_map(|_| located("a")).collect();
    assert_eq!(seen, HashSet::from([w0, w2]));
    assert_eq!(farm.remove_artifact(w0, "a").wait(), Ok(true));
    assert_eq!(farm.remove_artifact(w0, "a").wait(), Ok(false));
    assert_eq!(located("a"), Some(w2));
    farm.remove_worker(w2).wait().unwrap();
    assert_eq!((located("a"), located("b")), (None, Some(w1)));
}

#[test]
fn e5_everything_that_waits_is_told_of_the_stop() {
    let (farm, clock, [w0]) = farm_of();
    cache(&farm, w0, "a");
    let pending = ["a", "b"].map(|id| farm.schedule_job(job(id)));
    assert_eq!(pick(&farm, w0), Some("a"));
    let picking = farm.pick_job(w0);
    assert_eq!(farm.stop().wait(), Ok(()));
    for pending in pending {
        assert_eq!(pending.wait(), Err(JobError::Stopped));
    }
    assert_eq!(picking.wait(), Err(PickError::Stopped));
    // Later calls, too.
    assert!(farm.stop().wait().is_err());
    assert!(farm.register_worker().wait().is_err());
    assert_eq!(farm.pick_job(w0).wait(), Err(PickError::Stopped));
    assert_eq!(farm.schedule_job(job("c")).wait(), Err(JobError::Stopped));
    let late = farm.on_job_complete(w0, "a", 1).wait();
    assert_eq!(late, Err(ReportError::Stopped));
    clock.advance(DEPS_TIMEOUT);
}

#[test]
fn e5_the_last_handle_that_goes_is_a_stop() {
    let (farm, clock, [w0]) = farm_of();
    let (pending, picking) = (farm.schedule_job(job("a")), farm.pick_job(w0));
    clock.block_until(1);
    drop(farm.clone());
    assert!(!pending.is_ready());
    drop(farm);
    assert_eq!(pending.wait(), Err(JobError::Stopped));
    assert_eq!(picking.wait(), Err(PickError::Stopped));
    clock.advance(DEPS_TIMEOUT);
}

#[test]
fn e6_a_pick_takes_from_a_random_one_of_its_queues_that_has_something() {
    let mut firsts = HashSet::new();
    for round in 0..32_u64 {
        let (farm, clock, [w0]) = farm_of();
        // Earlier draws, so that the random numbers begin elsewhere.
        cache(&farm, w0, "own");
        cache(&farm, w0, "lib");
        for _ in 0..round {
            assert!(farm.locate_artifact("own").wait().is_ok());
        }
        let global = farm.schedule_job(job("global"));
        clock.advance(DEPS_TIMEOUT);
        let own = farm.schedule_job(job("own"));
        let near = farm.schedule_job(job_on("near", &["lib"]));
        let got = [(); 3].map(|()| pick(&farm, w0).unwrap());
        assert_eq!(HashSet::from(got), HashSet::from(["global", "own", "near"]));
        assert_eq!(pick(&farm, w0), None);
        firsts.insert(got[0]);
        drop((global, own, near));
    }
    assert_eq!(firsts, HashSet::from(["global", "own", "near"]));
}

#[test]
fn e10_time_is_the_clocks_alone() {
    let (farm, clock, [w0]) = farm_of();
    let (tells, hears) = mpsc::channel();
    let schedules = thread::spawn({
        let farm = farm.clone();
        move || {
            let pending = farm.schedule_job(job("a"));
            tells.send(pending.wait()).unwrap();
        }
    });
    clock.block_until(1);
    clock.advance(DEPS_TIMEOUT - Duration::from_nanos(1));
    assert_eq!(pick(&farm, w0), None);
    clock.advance(Duration::from_nanos(1));
    assert_eq!(pick(&farm, w0), Some("a"));
    assert_eq!(farm.on_job_complete(w0, "a", 5).wait(), Ok(true));
    assert_eq!(*hears.recv().unwrap().unwrap(), 5);
    schedules.join().unwrap();
}

/// The jobs that wait share one timer; a test waits for each, also from another thread.
#[test]
fn e10_each_job_that_waits_is_a_waiter() {
    let (farm, clock, [w0]) = farm_of();
    cache(&farm, w0, "lib");
    let waits = || farm.counts().wait().unwrap().waits;
    let schedules = ["a", "b", "c"].map(|id| {
        let farm = farm.clone();
        thread::spawn(move || drop(farm.schedule_job(job_on(id, &["lib"]))))
    });
    clock.block_until(3);
    assert_eq!(waits(), 3);
    // One that is picked waits no longer, nor one that any worker may have.
    let picked = pick(&farm, w0).unwrap();
    assert_eq!(waits(), 2);
    assert_eq!(farm.on_job_complete(w0, picked, 0).wait(), Ok(true));
    clock.advance(DEPS_TIMEOUT);
    assert_eq!(waits(), 0);
    let late = farm.schedule_job(job("d"));
    clock.block_until(1);
    let other = thread::spawn({
        let clock = clock.clone();
        move || clock.block_until(2)
    });
    let later = farm.schedule_job(job("e"));
    other.join().unwrap();
    drop((late, later));
    for thread in schedules {
        thread.join().unwrap();
    }
}

#[test]
fn e11_a_job_in_many_queues_is_picked_once() {
    let (farm, clock) = farm();
    let workers = [(); 4].map(|()| worker(&farm));
    for &worker in &workers {
        cache(&farm, worker, "a");
        cache(&farm, worker, "lib");
    }
    let _pending = farm.schedule_job(job_on("a", &["lib"]));
    clock.advance(CACHE_TIMEOUT);
    clock.advance(DEPS_TIMEOUT);
    let got = workers.map(|worker| pick(&farm, worker));
    assert_eq!(got.iter().flatten().count(), 1);
}

#[test]
fn e12_a_lost_worker_gives_its_jobs_back_and_its_artifacts_up() {
    let (farm, clock, [w0, w1]) = farm_of();
    cache(&farm, w0, "a");
    cache(&farm, w0, "lib");
    let pending = farm.schedule_job(job("a"));
    assert_eq!(pick(&farm, w0), Some("a"));
    let near = farm.schedule_job(job_on("b", &["lib"]));
    let waits = [farm.pick_job(w1), farm.pick_job(w1)];
    assert_eq!(farm.remove_worker(w0).wait(), Ok(vec!["a"]));
    let [first, second] = waits;
    assert_eq!(first.wait().unwrap().id, "a", "at once");
    assert_eq!(farm.locate_artifact("lib").wait(), Ok(None));
    assert!(!second.is_ready());
    clock.advance(DEPS_TIMEOUT);
    assert_eq!(second.wait().unwrap().id, "b");
    assert_eq!(farm.on_job_complete(w1, "a", 1).wait(), Ok(true));
    assert_eq!(*pending.wait().unwrap(), 1);
    drop(near);
    // The lost one is unknown now, and so are its picks.
    let late = farm.on_job_complete(w0, "b", 1).wait();
    assert_eq!(late, Err(ReportError::UnknownWorker));
    let again = farm.remove_worker(w0).wait();
    assert_eq!(again, Err(ReportError::UnknownWorker));
    let late = farm.pick_job(w0).wait();
    assert_eq!(late, Err(PickError::UnknownWorker));
}

#[test]
fn e12_the_picks_of_a_lost_worker_end() {
    let (farm, _clock, [w0]) = farm_of();
    let picks = [farm.pick_job(w0), farm.pick_job(w0)];
    assert_eq!(farm.remove_worker(w0).wait(), Ok(vec![]));
    for picking in picks {
        assert_eq!(picking.wait(), Err(PickError::UnknownWorker));
    }
}

#[test]
fn e12_a_failed_job_can_be_retried() {
    let (farm, clock, [w0, w1]) = farm_of();
    let failing = farm.schedule_job(job("a"));
    clock.advance(DEPS_TIMEOUT);
    assert_eq!(pick(&farm, w0), Some("a"));
    let not_its = farm.on_job_failed(w1, "a", -1).wait();
    assert_eq!(not_its, Err(ReportError::NotRunning));
    assert_eq!(farm.on_job_failed(w0, "a", -1).wait(), Ok(()));
    assert_eq!(*failing.wait().unwrap(), -1);
    assert_eq!(farm.locate_artifact("a").wait(), Ok(None));
    // Scheduled again by a caller that wants the result; given back without telling anybody.
    let retried = farm.schedule_job(job("a"));
    clock.advance(DEPS_TIMEOUT);
    assert_eq!(pick(&farm, w0), Some("a"));
    assert_eq!(farm.give_back(w0, "a").wait(), Ok(()));
    assert_eq!(farm.give_back(w0, "a").wait(), Err(ReportError::NotRunning));
    assert!(!retried.is_ready());
    assert_eq!(pick(&farm, w1), Some("a"));
    assert_eq!(farm.on_job_complete(w1, "a", 0).wait(), Ok(true));
    assert_eq!(*retried.wait().unwrap(), 0);
}
