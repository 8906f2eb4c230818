//! An action that waits or runs, and everyone who waits for it.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use bazel_remote_apis::google::protobuf::Timestamp;
use filch_sync::lock;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tonic::Code;

use super::action::Prepared;
use super::builds::{Builds, End, Invocation};
use super::failure::Failure;
use super::snapshot::Running;
use crate::digest::Digest;
use crate::reapi::{ActionResult, now};

/// The number of workers that may fail to finish an action before it is reported as failed.
const ATTEMPTS: usize = 3;

/// The outcome of an action.
pub type Outcome = Result<Arc<ActionResult>, Failure>;

impl From<&Outcome> for End {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Ok(result) if result.exit_code == 0 => Self::Succeeded,
            _ => Self::Failed,
        }
    }
}

/// The stage that an action has reached.
#[derive(Debug, Clone)]
pub enum Stage {
    /// It waits for a worker.
    Queued,
    /// A worker runs it.
    Executing,
    /// It is over.
    Completed(Outcome),
}

/// An action that waits or runs.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) action: Digest,
    /// The build that asked for it first.
    pub(super) invocation: Invocation,
    /// The name of the operation, by which a client finds it again.
    pub(super) name: String,
    /// The time when a client asked for it first.
    pub(super) queued: Option<Timestamp>,
    pub(super) asked: SystemTime,
    pub(super) stage: watch::Sender<Stage>,
    /// The number of those that wait for it.
    pub(super) waiting: watch::Sender<usize>,
    /// The best priority that they gave it.
    pub(super) priority: watch::Sender<i32>,
    place: Mutex<Place>,
}

#[derive(Debug, Default)]
struct Place {
    /// True once the scheduler was told that the job is over, which it is told once.
    over: bool,
    /// The name of the job by which it may begin: it has a new one in each pool.
    job: Option<Digest>,
    /// The number of those.
    jobs: u64,
    /// The session of the worker that runs it, and the run's number there.
    session: Option<(mpsc::UnboundedSender<u64>, u64)>,
    /// The last worker that got it, for people.
    last: Option<(String, Running)>,
    /// The reasons of the workers that did not finish it.
    attempts: Vec<String>,
    /// The builds that wait for it, one for each client that asked.
    builds: Vec<String>,
    /// The end of the action, once it has one.
    end: Option<End>,
}

/// A job, as a worker gets it.
#[derive(Debug, Clone)]
pub(super) struct Work {
    pub(super) run: Arc<Run>,
    /// The name of its job in the scheduler.
    pub(super) job: Digest,
    pub(super) prepared: Arc<Prepared>,
}

impl PartialEq for Work {
    /// Compares runs: a job is scheduled once at a time.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.run, &other.run)
    }
}

impl Run {
    pub(super) fn new(
        action: Digest,
        invocation: &Invocation,
        name: String,
        stage: Stage,
    ) -> Arc<Self> {
        Arc::new(Self {
            action,
            invocation: invocation.clone(),
            name,
            queued: now(),
            asked: SystemTime::now(),
            stage: watch::Sender::new(stage),
            waiting: watch::Sender::new(0),
            priority: watch::Sender::new(invocation.priority),
            place: Mutex::default(),
        })
    }

    /// Returns when nobody has waited for the run for that long.
    pub(super) async fn abandoned(&self, grace: Duration) {
        let mut waiting = self.waiting.subscribe();
        loop {
            // `self` has the sender, so it is never closed.
            let _ = waiting.wait_for(|&count| count == 0).await;
            let back = waiting.wait_for(|&count| count > 0);
            if timeout(grace, back).await.is_err() {
                return;
            }
        }
    }

    /// Makes another job of it, and returns the name.
    pub(super) fn new_job(&self) -> Digest {
        let mut place = self.place();
        place.jobs += 1;
        let name = format!("{} {}", self.name, place.jobs);
        *place.job.insert(Digest::of(name.as_bytes()))
    }

    /// Lets it not begin by its job any more, and returns true, unless it has begun.
    pub(super) fn recall(&self) -> bool {
        let mut place = self.place();
        if place.session.is_none() {
            place.job = None;
        }
        place.job.is_none()
    }

    /// Records that a worker is about to run that job. Returns false if it is over or was recalled,
    /// and need not be run.
    pub(super) fn begin(
        &self,
        job: Digest,
        session: &mpsc::UnboundedSender<u64>,
        worker: &str,
        running: &Running,
    ) -> bool {
        let mut place = self.place();
        if place.over || place.job != Some(job) {
            return false;
        }
        place.session = Some((session.clone(), running.run));
        place.last = Some((worker.to_owned(), running.clone()));
        self.set_stage(Stage::Executing);
        true
    }

    /// Tells the scheduler that the job is over, and returns true, unless it was told before.
    pub(super) fn end(&self, tell: impl FnOnce()) -> bool {
        let mut place = self.place();
        if place.over {
            return false;
        }
        place.over = true;
        tell();
        true
    }

    /// Takes the priority that a client gives it, if it is better than those before.
    pub(super) fn hurry(&self, priority: i32) {
        self.priority.send_if_modified(|best| {
            let better = priority < *best;
            *best = priority.min(*best);
            better
        });
    }

    /// Ends it as `end` does because nobody waits for it, and tells the worker that runs it. Its
    /// job is withdrawn with its place in the queue.
    pub(super) fn cancel(&self) -> bool {
        let ended = self.end(|| ());
        if ended && let Some((session, number)) = self.place().session.take() {
            // If the session has ended, so has the run.
            let _ = session.send(number);
        }
        ended
    }

    /// Records why a worker did not finish it; returns true if another worker may have it. After
    /// the last attempt, tells the scheduler.
    pub(super) fn failed(&self, why: String, builds: &Builds, tell: impl FnOnce(Failure)) -> bool {
        let mut place = self.place();
        if place.over {
            return false;
        }
        place.session = None;
        place.attempts.push(why);
        if place.attempts.len() < ATTEMPTS {
            self.set_stage(Stage::Queued);
            builds.count(End::Retried);
            for build in &place.builds {
                builds.note(build, End::Retried);
            }
            return true;
        }
        place.over = true;
        let what = format!("the action was given to {ATTEMPTS} workers, none brought it to an end");
        let what = format!("{what}: {}", place.attempts.join("; "));
        tell(Failure::new(Code::Internal, what));
        false
    }

    /// Adds a build that waits for it.
    pub(super) fn add_build(&self, builds: &Builds, build: &str) {
        let mut place = self.place();
        match place.end {
            Some(end) => builds.note(build, end),
            None => place.builds.push(build.to_owned()),
        }
    }

    pub(super) fn complete(&self, builds: &Builds, outcome: Outcome) {
        let end = End::from(&outcome);
        let mut place = self.place();
        place.end = Some(end);
        for build in place.builds.drain(..) {
            builds.note(&build, end);
        }
        drop(place);
        self.stage.send_replace(Stage::Completed(outcome));
    }

    /// Returns the last worker that got it, and its run there.
    pub(super) fn last(&self) -> Option<(String, Running)> {
        self.place().last.clone()
    }

    fn set_stage(&self, new: Stage) {
        self.stage.send_if_modified(|stage| {
            let open = !matches!(stage, Stage::Completed(_));
            if open {
                *stage = new;
            }
            open
        });
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        lock(&self.place)
    }
}
