//! An action that waits or runs, and all that wait for it.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use filch_sync::lock;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::action::Prepared;
use super::builds::{Builds, End};
use super::failure::Failure;
use crate::digest::Digest;
use crate::reapi::ActionResult;

/// What becomes of an action.
pub type Outcome = Result<Arc<ActionResult>, Failure>;

impl From<&Outcome> for End {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Ok(result) if result.exit_code == 0 => Self::Succeeded,
            _ => Self::Failed,
        }
    }
}

/// How far an action is.
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
    /// The name of the operation, by which a client finds it again.
    pub(super) name: String,
    pub(super) stage: watch::Sender<Stage>,
    /// How many wait for it.
    pub(super) waiting: watch::Sender<usize>,
    place: Mutex<Place>,
}

#[derive(Debug, Default)]
struct Place {
    /// Whether the scheduler was told that the job is over: it is told once.
    over: bool,
    /// The session of the worker that runs it, and what that calls it.
    session: Option<(mpsc::UnboundedSender<u64>, u64)>,
    /// What happened to the workers that did not bring it to an end.
    attempts: Vec<String>,
    /// The builds that it is for, one for each client that asked.
    builds: Vec<String>,
    /// How it ended, once it has.
    end: Option<End>,
}

/// What happens to an action whose worker did not bring it to an end.
pub(super) enum Attempt {
    /// The scheduler was told that the job is over.
    Over,
    /// Another worker may have it.
    Again,
}

/// What a worker is told of a job.
#[derive(Debug, Clone)]
pub(super) struct Work {
    pub(super) run: Arc<Run>,
    pub(super) prepared: Arc<Prepared>,
}

impl PartialEq for Work {
    /// An action is scheduled once at a time.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.run, &other.run)
    }
}

impl Run {
    pub(super) fn new(action: Digest, name: String, stage: Stage) -> Arc<Self> {
        Arc::new(Self {
            action,
            name,
            stage: watch::Sender::new(stage),
            waiting: watch::Sender::new(0),
            place: Mutex::default(),
        })
    }

    /// Returns when nobody has waited for it for that long.
    pub(super) async fn abandoned(&self, grace: Duration) {
        let mut waiting = self.waiting.subscribe();
        loop {
            // `self` has the sender: it is never closed.
            let _ = waiting.wait_for(|&count| count == 0).await;
            let back = waiting.wait_for(|&count| count > 0);
            if timeout(grace, back).await.is_err() {
                return;
            }
        }
    }

    /// A worker is about to run it. False if it is over, and need not be run.
    pub(super) fn begin(&self, session: &mpsc::UnboundedSender<u64>, number: u64) -> bool {
        let mut place = self.place();
        if place.over {
            return false;
        }
        place.session = Some((session.clone(), number));
        self.set_stage(Stage::Executing);
        true
    }

    /// Tells the scheduler that the job is over, unless it was told. Returns whether it was now.
    pub(super) fn end(&self, tell: impl FnOnce()) -> bool {
        let mut place = self.place();
        if place.over {
            return false;
        }
        place.over = true;
        tell();
        true
    }

    /// As `end`, for an action that nobody waits for: the worker that runs it is told as well.
    pub(super) fn cancel(&self, tell: impl FnOnce()) -> bool {
        let ended = self.end(tell);
        if ended && let Some((session, number)) = self.place().session.take() {
            // If the session has ended, so has the run.
            let _ = session.send(number);
        }
        ended
    }

    /// The worker did not bring it to an end: says why. After the last attempt, the scheduler is
    /// told.
    pub(super) fn failed(
        &self,
        why: String,
        attempts: usize,
        builds: &Builds,
        tell: impl FnOnce(Failure),
    ) -> Attempt {
        let mut place = self.place();
        if place.over {
            return Attempt::Over;
        }
        place.session = None;
        place.attempts.push(why);
        if place.attempts.len() < attempts {
            self.set_stage(Stage::Queued);
            builds.count(End::Retried);
            for build in &place.builds {
                builds.note(build, End::Retried);
            }
            return Attempt::Again;
        }
        place.over = true;
        tell(Failure::Lost(place.attempts.clone()));
        Attempt::Over
    }

    /// It is for this build as well.
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
