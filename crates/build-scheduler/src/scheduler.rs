//! The handle, for builds and workers.

use std::fmt;
use std::sync::Arc;

use filch_promise::answer;
use filch_timers::Timers;

use crate::config::Config;
use crate::error::{Answer, Pending, ReportError};
use crate::job::{Content, Id, Job, Outcome};
use crate::machine::Machine;
use crate::picking::Picking;
use crate::planner::{Counts, WorkerId};
use crate::shared::Shared;

/// A scheduler of build jobs, for any number of threads and tasks. Clones are handles of the same
/// scheduler; dropping the last one is a [`stop`](Self::stop).
///
/// `I` names jobs and artifacts, `S` is the content of a job for its worker, `R` is a result.
///
/// Calls take effect one after another, each between its call and its answer; a call that returned
/// before another began comes first. Everything that a thread did before a call happens before the
/// use of an answer that the call made possible: from [`schedule_job`](Self::schedule_job) to the
/// pick, and from [`on_job_complete`](Self::on_job_complete) to the result of the pending job.
///
/// No call takes a lock, but the scheduler's timer does, when the first deadline changes. A call
/// that finds the scheduler free does its work; else, after a few microseconds, it leaves the work
/// to the thread that is there, which may be kept for as long as others go on calling. A waker that
/// it wakes may call the scheduler, but not wait for an answer.
///
/// If `Eq`, `Hash` or `Clone` of an id panics, or `PartialEq` of a content, the scheduler stops.
///
/// ```
/// use filch_build_scheduler::{Config, Job, PickError, Scheduler};
/// use filch_timers::Timers;
///
/// let scheduler = Scheduler::<_, _, i32>::new(Config::default(), &Timers::new()?);
/// let worker = scheduler.register_worker().wait()?;
/// let pick = scheduler.pick_job(worker);
/// pick.canceller().cancel();
/// assert_eq!(pick.wait(), Err(PickError::Cancelled));
///
/// scheduler.add_artifact(worker, "a.o").wait()?;
/// let pending = scheduler.schedule_job(Job::with_dependencies("program", ["a.o"], "ld a.o"));
/// let job = scheduler.pick_job(worker).wait()?;
/// assert_eq!(job.content, "ld a.o");
/// assert!(scheduler.on_job_complete(worker, job.id, 0).wait()?);
/// assert_eq!(*pending.wait()?, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Scheduler<I, S, R> {
    shared: Arc<Shared<I, S, R>>,
}

impl<I: Id, S: Content, R: Outcome> Scheduler<I, S, R> {
    /// Makes a scheduler without jobs and workers. Waits end by these timers, and their clock.
    pub fn new(config: Config, timers: &Timers) -> Self {
        Self {
            shared: Shared::new(config, timers),
        }
    }

    /// Adds the job, or joins the pending one of the same id. The answer is the job's result, when
    /// a worker has reported one; every call gets it. Dropping the answer does not cancel the job.
    ///
    /// The answer is [`JobError::Conflict`](crate::JobError::Conflict) if a job of that id is
    /// pending that is not equal to this one.
    pub fn schedule_job(&self, job: Job<I, S>) -> Pending<R> {
        let (reply, answer) = answer();
        let job = Arc::new(job);
        self.shared
            .tell(move |machine| machine.schedule(job, reply));
        answer
    }

    /// Asks for a job for that worker. The answer comes when one of the worker's three queues has
    /// one. A worker may pick several times at once.
    ///
    /// The answer is an error if the pick was [cancelled](Picking::canceller), the worker is not
    /// there or is removed, or the scheduler was stopped.
    pub fn pick_job(&self, worker: WorkerId) -> Picking<I, S, R> {
        Picking::start(&self.shared, worker)
    }

    /// Reports that the worker has made the artifact of that id, and has it in its cache. If the
    /// job was pending, on any worker, its callers get the result. The answer is whether it was.
    ///
    /// The answer is an error if the worker is not there: then the report is ignored.
    pub fn on_job_complete(&self, worker: WorkerId, id: I, result: R) -> Answer<bool, ReportError> {
        let result = Arc::new(result);
        self.shared
            .ask(move |machine| machine.complete(worker, id, result))
    }

    /// Reports that the job, which the worker runs, has failed: its callers get the result, and no
    /// cache is known to have it. It may be scheduled again.
    ///
    /// The answer is an error if the worker is not there, or does not run the job.
    pub fn on_job_failed(&self, worker: WorkerId, id: I, result: R) -> Answer<(), ReportError> {
        let result = Arc::new(result);
        self.shared
            .ask(move |machine| machine.fail(worker, &id, result))
    }

    /// Withdraws the job of that id: its callers get
    /// [`JobError::Withdrawn`](crate::JobError::Withdrawn). The answer is whether it was pending.
    /// It may be scheduled again.
    ///
    /// A worker that runs it is not told. Its later reports are [refused](ReportError::NotRunning),
    /// except the result: that is one of a job that nobody scheduled, or of one of that id that was
    /// scheduled since.
    pub fn withdraw_job(&self, id: I) -> Answer<bool> {
        self.shared.ask(move |machine| machine.withdraw(&id))
    }

    /// Gives back a job that the worker does not finish. Any worker may have it, at once; its
    /// callers are told nothing.
    ///
    /// The answer is an error if the worker is not there, or does not run the job.
    pub fn give_back(&self, worker: WorkerId, id: I) -> Answer<(), ReportError> {
        self.shared
            .ask(move |machine| machine.give_back(worker, &id))
    }

    /// Finds a random worker that has the artifact, if any has it.
    pub fn locate_artifact(&self, id: I) -> Answer<Option<WorkerId>> {
        self.shared.ask(move |machine| machine.locate(&id))
    }

    /// Reports that the worker has the artifact in its cache, wherever it got it.
    ///
    /// The answer is an error if the worker is not there.
    pub fn add_artifact(&self, worker: WorkerId, id: I) -> Answer<(), ReportError> {
        self.shared
            .ask(move |machine| machine.add_artifact(worker, id))
    }

    /// Reports that the artifact has left the worker's cache. The answer is whether it was there.
    ///
    /// The answer is an error if the worker is not there.
    pub fn remove_artifact(&self, worker: WorkerId, id: I) -> Answer<bool, ReportError> {
        self.shared
            .ask(move |machine| machine.remove_artifact(worker, &id))
    }

    /// Registers a worker with an empty cache.
    pub fn register_worker(&self) -> Answer<WorkerId> {
        self.shared.ask(Machine::register)
    }

    /// Removes a lost worker: any worker may have the jobs that it ran, at once; the answer names
    /// them. Its artifacts are forgotten, its picks end.
    ///
    /// The answer is an error if the worker is not there.
    pub fn remove_worker(&self, worker: WorkerId) -> Answer<Vec<I>, ReportError> {
        self.shared
            .ask(move |machine| machine.remove_worker(worker))
    }

    /// Counts the jobs, picks, workers and artifacts.
    pub fn counts(&self) -> Answer<Counts> {
        self.shared.ask(Machine::counts)
    }

    /// Stops the scheduler: pending jobs and picks end with the error that says so, and later calls
    /// get it too. A second stop is harmless: its answer is that error.
    pub fn stop(&self) -> Answer<()> {
        self.shared.ask(Machine::stop)
    }
}

impl<I, S, R> Clone for Scheduler<I, S, R> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<I, S, R> fmt::Debug for Scheduler<I, S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler").finish_non_exhaustive()
    }
}
