//! The build scheduler without waits: recorded histories of real threads are those of a FIFO queue
//! in which each job that is scheduled and each pick, granted or cancelled, has one moment.

use std::time::Duration;

use filch_build_scheduler::{Config, Job, PickError, Scheduler, WorkerId};
use filch_timers::{FakeClock, Timers};
use linearizability::{Clocks, Fifo, FifoOperation, History, Recording, Rounds};

type Operation = FifoOperation<u32>;
type Farm = Scheduler<u32, (), ()>;

/// A pick that does not wait: there is nothing at the moment of its end, if it has nothing then.
fn pick(farm: &Farm, worker: WorkerId) -> [Operation; 1] {
    let picking = farm.pick_job(worker);
    picking.canceller().cancel();
    let got = match picking.wait() {
        Ok(job) => Some(job.id),
        Err(error) => {
            assert_eq!(error, PickError::Cancelled);
            None
        }
    };
    [FifoOperation::pop(got)]
}

/// Two builds of four jobs each, and two workers that pick; then the rest is picked, so that a lost
/// job is missed, and one that is picked twice has no place.
fn record(clocks: Clocks) -> History<Operation> {
    let timers = Timers::with_clock(FakeClock::new()).unwrap();
    let farm: &Farm = &Scheduler::new(Config::new(Duration::ZERO, Duration::ZERO), &timers);
    let workers = [(); 2].map(|()| farm.register_worker().wait().unwrap());
    let mut recording = Recording::new(clocks);
    for first in [10, 20] {
        recording.thread(move |log| {
            for id in first..first + 4 {
                log.call(|| {
                    let scheduled = farm.schedule_job(Job::new(id, ()));
                    // The answer is the job's result. This one comes when the job is there.
                    assert!(farm.counts().wait().is_ok());
                    drop(scheduled);
                    [Operation::Push(id)]
                });
            }
        });
    }
    for worker in workers {
        recording.thread(move |log| {
            for _ in 0..5 {
                log.call(|| pick(farm, worker));
            }
        });
    }
    recording.closing(|log| {
        for _ in 0..9 {
            log.call(|| pick(farm, workers[0]));
        }
    });
    recording.run()
}

#[test]
fn a_pick_has_one_moment() {
    Rounds::check(400, &Fifo::new(), record);
}
