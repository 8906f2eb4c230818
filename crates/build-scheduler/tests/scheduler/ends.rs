//! Panics of the user's code, wakers that call the scheduler, many threads.

use std::collections::HashSet;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use filch_build_scheduler::{Config, Job, JobError, PickError, Scheduler};
use filch_timers::{FakeClock, Timers};

use crate::{DEPS_TIMEOUT, Farm, cache, farm_of, job, pick, worker};

/// Panics in a comparison.
struct Bomb;

impl PartialEq for Bomb {
    fn eq(&self, _: &Self) -> bool {
        resume_unwind(Box::new("wanted by the test"));
    }
}

#[test]
fn a_content_that_panics_stops_the_scheduler_and_everybody_is_told() {
    let timers = Timers::with_clock(FakeClock::new()).unwrap();
    let farm: Scheduler<_, _, ()> = Scheduler::new(Config::default(), &timers);
    let w0 = farm.register_worker().wait().unwrap();
    let picking = farm.pick_job(w0);
    let pending = [(); 2].map(|()| farm.schedule_job(Job::new("a", Bomb)));
    for pending in pending {
        assert_eq!(pending.wait(), Err(JobError::Stopped));
    }
    assert_eq!(picking.wait().err(), Some(PickError::Stopped));
    assert!(farm.register_worker().wait().is_err());
}

struct Loud;

impl Wake for Loud {
    fn wake(self: Arc<Self>) {
        resume_unwind(Box::new("wanted by the test"));
    }
}

#[test]
fn a_waker_that_panics_harms_nobody() {
    let (farm, clock, [w0]) = farm_of();
    let mut pending = farm.schedule_job(job("a"));
    let waker = Waker::from(Arc::new(Loud));
    let polled = Pin::new(&mut pending).poll(&mut Context::from_waker(&waker));
    assert!(polled.is_pending());
    let other = farm.schedule_job(job("a"));
    clock.advance(DEPS_TIMEOUT);
    assert_eq!(pick(&farm, w0), Some("a"));
    assert_eq!(farm.on_job_complete(w0, "a", 3).wait(), Ok(true));
    assert_eq!((*pending.wait().unwrap(), *other.wait().unwrap()), (3, 3));
}

/// Schedules the next job when it is woken.
struct Next(Farm);

impl Wake for Next {
    fn wake(self: Arc<Self>) {
        drop(self.0.schedule_job(job("next")));
    }
}

#[test]
fn a_waker_may_call_the_scheduler() {
    let (farm, clock, [w0]) = farm_of();
    let mut pending = farm.schedule_job(job("a"));
    let waker = Waker::from(Arc::new(Next(farm.clone())));
    let polled = Pin::new(&mut pending).poll(&mut Context::from_waker(&waker));
    assert!(polled.is_pending());
    assert_eq!(farm.on_job_complete(w0, "a", 3).wait(), Ok(true));
    clock.advance(DEPS_TIMEOUT);
    assert_eq!(pick(&farm, w0), Some("next"));
}

#[test]
fn a_wait_that_has_no_end_does_not_end() {
    let clock = FakeClock::new();
    let timers = Timers::with_clock(clock.clone()).unwrap();
    let config = Config::new(Duration::ZERO, Duration::MAX);
    let farm: Farm = Scheduler::new(config, &timers);
    let w0 = worker(&farm);
    let _pending = farm.schedule_job(job("a"));
    assert_eq!(timers.pending(), 0);
    clock.advance(Duration::from_secs(1 << 30));
    assert_eq!(pick(&farm, w0), None);
    cache(&farm, w0, "b");
    let _b = farm.schedule_job(job("b"));
    assert_eq!(pick(&farm, w0), Some("b"));
}

/// Each of many threads picks, drops picks, and completes its jobs, while others schedule.
#[test]
fn many_threads_build_each_job_once() {
    const THREADS: u32 = 4;
    const JOBS: u32 = 500;

    let clock = FakeClock::new();
    let timers = Timers::with_clock(clock).unwrap();
    let config = Config::new(Duration::ZERO, Duration::ZERO);
    let farm: Scheduler<u32, u32, u32> = Scheduler::new(config, &timers);
    let built = Mutex::new(HashSet::new());
    let start = Barrier::new(2 * THREADS as usize);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|_| {
                let (farm, built, start) = (&farm, &built, &start);
                scope.spawn(move || {
                    let worker = farm.register_worker().wait().unwrap();
                    start.wait();
                    loop {
                        drop(farm.pick_job(worker));
                        let job = match farm.pick_job(worker).wait() {
                            Ok(job) => job,
                            Err(error) => return assert_eq!(error, PickError::Stopped),
                        };
                        assert!(built.lock().unwrap().insert(job.id), "built twice");
                        let report = farm.on_job_complete(worker, job.id, job.content + 1);
                        assert_eq!(report.wait(), Ok(true));
                    }
                })
            })
            .collect();
        let builds: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (farm, start) = (&farm, &start);
                scope.spawn(move || {
                    start.wait();
                    let ids = (0..JOBS).map(|job| job * THREADS + thread);
                    let jobs = ids.map(|id| farm.schedule_job(Job::new(id, id)));
                    let jobs: Vec<_> = jobs.collect();
                    for (pending, job) in jobs.into_iter().zip(0..) {
                        assert_eq!(*pending.wait().unwrap(), job * THREADS + thread + 1);
                    }
                })
            })
            .collect();
        for build in builds {
            build.join().unwrap();
        }
        farm.stop().wait().unwrap();
        for worker in workers {
            worker.join().unwrap();
        }
    });
    assert_eq!(built.lock().unwrap().len(), (THREADS * JOBS) as usize);
}
