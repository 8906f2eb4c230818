//! The build scheduler: picks against cancels, completions, withdrawals, lost workers and the
//! stop.

use std::time::Duration;

use filch_build_scheduler::{Config, Job, JobError, PickError, ReportError, Scheduler, WorkerId};
use filch_timers::{FakeClock, Timers};
use shuttle::thread::{self, JoinHandle};
use shuttle_tests::explore;

type Farm = Scheduler<u32, (), u32>;

/// Makes a scheduler without waits: a job is in the global queue at once.
fn farm() -> Farm {
    let timers = Timers::with_clock(FakeClock::new()).unwrap();
    Scheduler::new(Config::new(Duration::ZERO, Duration::ZERO), &timers)
}

fn worker(farm: &Farm) -> WorkerId {
    farm.register_worker().wait().unwrap()
}

/// Starts a thread that picks for the worker, and completes its job with the job's number.
fn builds(farm: &Farm, worker: WorkerId) -> JoinHandle<Result<u32, PickError>> {
    let farm = farm.clone();
    thread::spawn(move || {
        let job = farm.pick_job(worker).wait()?;
        let awaited = farm.on_job_complete(worker, job.id, job.id).wait();
        assert_ne!(awaited, Ok(false), "it was over: it was picked twice");
        Ok(job.id)
    })
}

/// A worker picks twice, on two threads, and one pick is cancelled while two jobs are scheduled.
/// Each job is built, or is still there. Failure: a deadlock, when a job or a pick is left over; or
/// a job that is built twice, or lost with the cancelled pick.
#[test]
fn a_pick_against_its_cancel_and_jobs() {
    explore("a cancelled pick has a job or an error", 2_000, || {
        let farm = farm();
        let w0 = worker(&farm);
        let picking = farm.pick_job(w0);
        let canceller = picking.canceller();
        let cancels = thread::spawn(move || canceller.cancel());
        let schedules = thread::spawn({
            let farm = farm.clone();
            move || farm.schedule_job(Job::new(1, ()))
        });
        let picked = picking.wait();
        let pending = schedules.join().unwrap();
        let job = match picked {
            Ok(job) => job,
            Err(error) => {
                assert_eq!(error, PickError::Cancelled);
                farm.pick_job(w0).wait().unwrap()
            }
        };
        assert_eq!(farm.on_job_complete(w0, job.id, 7).wait(), Ok(true));
        assert_eq!(pending.wait().map(|result| *result), Ok(7));
        cancels.join().unwrap();
        assert_eq!(farm.counts().wait().unwrap().picks, 0);
    });
}

/// A pick is dropped while a job is scheduled, and another worker picks. Failure: a deadlock, when
/// the job is lost with the dropped pick.
#[test]
fn a_dropped_pick_keeps_no_job() {
    explore("what a dropped pick got is given back", 2_000, || {
        let farm = farm();
        let [w0, w1] = [worker(&farm), worker(&farm)];
        let picking = farm.pick_job(w0);
        let drops = thread::spawn(move || drop(picking));
        let other = builds(&farm, w1);
        let pending = farm.schedule_job(Job::new(5, ()));
        assert_eq!(pending.wait().map(|result| *result), Ok(5));
        assert_eq!(other.join().unwrap(), Ok(5));
        drops.join().unwrap();
        assert_eq!(farm.counts().wait().unwrap().jobs, 0);
    });
}

/// A worker is lost while it picks, runs or completes; another builds the rest. Failure: a
/// deadlock, when a job is lost with the worker; a result that comes twice.
#[test]
fn a_lost_worker_keeps_no_job() {
    explore("what a lost worker ran is given back", 2_000, || {
        let farm = farm();
        let [w0, w1] = [worker(&farm), worker(&farm)];
        let lost = thread::spawn({
            let farm = farm.clone();
            move || {
                let job = match farm.pick_job(w0).wait() {
                    Ok(job) => job,
                    // The worker is lost, perhaps so late that all jobs are done.
                    Err(error) => return assert_ne!(error, PickError::Cancelled),
                };
                let report = farm.on_job_complete(w0, job.id, job.id).wait();
                assert!(!matches!(report, Ok(false) | Err(ReportError::NotRunning)));
            }
        });
        let other = thread::spawn({
            let farm = farm.clone();
            move || {
                while let Ok(job) = farm.pick_job(w1).wait() {
                    let report = farm.on_job_complete(w1, job.id, job.id).wait();
                    assert_eq!(report, Ok(true));
                }
            }
        });
        let pending = [3, 4].map(|id| farm.schedule_job(Job::new(id, ())));
        assert!(farm.remove_worker(w0).wait().is_ok());
        let results = pending.map(|pending| *pending.wait().unwrap());
        assert_eq!(results, [3, 4]);
        assert_eq!(farm.stop().wait(), Ok(()));
        lost.join().unwrap();
        other.join().unwrap();
    });
}

/// A job is withdrawn while a worker picks it and completes it. Failure: a deadlock, when the job
/// is left over or its pick is lost with it; or a job that is withdrawn, and has a result as well.
#[test]
fn a_withdrawn_job_has_one_end() {
    explore("a job is withdrawn, or has a result", 2_000, || {
        let farm = farm();
        let w0 = worker(&farm);
        let builds = thread::spawn({
            let farm = farm.clone();
            move || {
                let job = farm.pick_job(w0).wait().unwrap();
                let awaited = farm.on_job_complete(w0, job.id, job.id).wait();
                (job.id, awaited.unwrap())
            }
        });
        let pending = farm.schedule_job(Job::new(1, ()));
        let withdraws = thread::spawn({
            let farm = farm.clone();
            move || farm.withdraw_job(1).wait().unwrap()
        });
        let result = pending.wait().map(|result| *result);
        let withdrawn = withdraws.join().unwrap();
        let expected = [Ok(1), Err(JobError::Withdrawn)];
        assert_eq!(result, expected[usize::from(withdrawn)]);
        // For a pick that came too late for the first job.
        let next = farm.schedule_job(Job::new(2, ()));
        match builds.join().unwrap() {
            (1, awaited) => {
                assert_eq!(awaited, !withdrawn);
                assert_eq!(farm.withdraw_job(2).wait(), Ok(true));
                assert_eq!(next.wait(), Err(JobError::Withdrawn));
            }
            other => assert_eq!((other, withdrawn), ((2, true), true)),
        }
        assert_eq!(farm.counts().wait().unwrap().jobs, 0);
    });
}

/// The scheduler is stopped while a job is scheduled and a worker picks. Failure: a deadlock, when
/// one of the two is not told.
#[test]
fn a_stop_reaches_everything_that_waits() {
    explore("whatever waits is told of the stop", 2_000, || {
        let farm = farm();
        let w0 = worker(&farm);
        let builds = builds(&farm, w0);
        let schedules = thread::spawn({
            let farm = farm.clone();
            move || farm.schedule_job(Job::new(1, ())).wait()
        });
        assert_eq!(farm.stop().wait(), Ok(()));
        let scheduled = schedules.join().unwrap();
        let picked = builds.join().unwrap();
        match scheduled {
            Ok(result) => assert_eq!(picked, Ok(*result)),
            Err(error) => assert_eq!(error, JobError::Stopped),
        }
        assert!(matches!(picked, Ok(1) | Err(PickError::Stopped)));
    });
}
