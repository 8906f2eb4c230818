//! The build scheduler without waits: recorded histories of real threads are those of one list of
//! jobs, in which each operation has one moment: a scheduled job, a granted or cancelled pick, a
//! withdrawal, a report.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::time::Duration;

use filch_build_scheduler::{Config, Job, PickError, Scheduler, WorkerId};
use filch_timers::{FakeClock, Timers};
use linearizability::{Clocks, History, Log, Recording, Rounds, Specification};

type Farm = Scheduler<u32, (), ()>;

/// The operations on the jobs of a farm, each with its answer.
#[derive(Clone, Debug)]
enum Operation {
    Schedule(u32),
    /// `None`: there was no job when it ended.
    Pick(Option<u32>),
    /// The flag: it waited or ran.
    Withdraw(u32, bool),
    /// The worker that got it has made it. The flag: somebody awaited it.
    Complete(u32, bool),
}

/// Any worker may get any job, and gets the one that has waited longest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Jobs {
    waiting: VecDeque<u32>,
    running: BTreeSet<u32>,
}

impl Specification for Jobs {
    type Operation = Operation;

    fn apply(&mut self, operation: &Operation) -> bool {
        match *operation {
            Operation::Schedule(id) => {
                self.waiting.push_back(id);
                true
            }
            Operation::Pick(got) => {
                let first = self.waiting.pop_front();
                self.running.extend(first);
                first == got
            }
            Operation::Withdraw(id, was_pending) => {
                let waited = self.waiting.iter().position(|&waiting| waiting == id);
                waited.map(|place| self.waiting.remove(place));
                (waited.is_some() || self.running.remove(&id)) == was_pending
            }
            Operation::Complete(id, was_pending) => self.running.remove(&id) == was_pending,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schedule(id) => write!(f, "schedule({id})"),
            Self::Pick(got) => write!(f, "pick() = {got:?}"),
            Self::Withdraw(id, was_pending) => write!(f, "withdraw({id}) = {was_pending}"),
            Self::Complete(id, was_pending) => write!(f, "complete({id}) = {was_pending}"),
        }
    }
}

/// Picks without waiting.
fn pick(log: &mut Log<'_, Operation>, farm: &Farm, worker: WorkerId) -> Option<u32> {
    let mut got = None;
    log.call(|| {
        let picking = farm.pick_job(worker);
        picking.canceller().cancel();
        match picking.wait() {
            Ok(job) => got = Some(job.id),
            Err(error) => assert_eq!(error, PickError::Cancelled),
        }
        [Operation::Pick(got)]
    });
    got
}

/// Two builds, each of which withdraws one of its own jobs and one of the other's, and two workers
/// that pick and complete; then the rest is picked, so that a lost job is noticed, and a job that
/// is picked twice does not fit.
fn record(clocks: Clocks) -> History<Operation> {
    let timers = Timers::with_clock(FakeClock::new()).unwrap();
    let farm: &Farm = &Scheduler::new(Config::new(Duration::ZERO, Duration::ZERO), &timers);
    let workers = [(); 2].map(|()| farm.register_worker().wait().unwrap());
    let mut recording = Recording::new(clocks);
    for (own, others) in [(10, 20), (20, 10)] {
        recording.thread(move |log| {
            for id in own..own + 4 {
                log.call(|| {
                    let scheduled = farm.schedule_job(Job::new(id, ()));
                    // The answer is the job's result. This one comes once the job is there.
                    assert!(farm.counts().wait().is_ok());
                    drop(scheduled);
                    [Operation::Schedule(id)]
                });
            }
            for id in [own + 3, others + 2] {
                log.call(|| {
                    let was_pending = farm.withdraw_job(id).wait().unwrap();
                    [Operation::Withdraw(id, was_pending)]
                });
            }
        });
    }
    for worker in workers {
        recording.thread(move |log| {
            for _ in 0..4 {
                if let Some(id) = pick(log, farm, worker) {
                    log.call(|| {
                        let was_pending = farm.on_job_complete(worker, id, ()).wait();
                        [Operation::Complete(id, was_pending.unwrap())]
                    });
                }
            }
        });
    }
    recording.closing(|log| {
        for _ in 0..9 {
            pick(log, farm, workers[0]);
        }
    });
    recording.run()
}

#[test]
fn each_call_has_one_moment() {
    Rounds::check(400, &Jobs::default(), record);
}
