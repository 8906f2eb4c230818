//! The farm: what clients ask it for.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use filch_build_scheduler::{Config, Job, Scheduler};
use filch_sync::lock;
use filch_timers::Timers;
use prost::Message as _;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::action::prepare;
use super::builds::{Builds, End, Invocation};
use super::config::FarmConfig;
use super::contained::contained;
use super::executing::Executing;
use super::failure::Failure;
use super::folders::Folders;
use super::roster::Roster;
use super::run::{Outcome, Run, Stage, Work};
use super::snapshot::Snapshot;
use crate::digest::Digest;
use crate::reapi::{Action, ActionResult};
use crate::storage::{Storage, StoredResult};

/// So many of the largest inputs make a worker near.
const MOST_NEAR: usize = 32;

/// A coordinator. Clones are handles of the same one.
#[derive(Debug, Clone)]
pub struct Farm {
    pub(super) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) config: FarmConfig,
    pub(super) storage: Storage,
    pub(super) scheduler: Scheduler<Digest, Work, Outcome>,
    folders: Folders,
    runs: Mutex<Runs>,
    pub(super) roster: Roster,
    pub(super) started: SystemTime,
    pub(super) builds: Builds,
    /// What workers show each other.
    pub(super) key: String,
    /// Whether the coordinator is about to end.
    pub(super) leaving: CancellationToken,
    /// Whether no worker was left after that.
    left: CancellationToken,
}

#[derive(Debug)]
struct Runs {
    pending: HashMap<Digest, Arc<Run>>,
    /// Also those that were over a moment ago.
    named: HashMap<String, Arc<Run>>,
    /// Names are of one life of the coordinator.
    life: u128,
    count: u64,
}

impl Farm {
    /// A farm without workers.
    ///
    /// # Errors
    /// If the scheduler's timer thread cannot be started.
    pub fn start(config: FarmConfig, storage: Storage) -> io::Result<Self> {
        let waits = Config::new(config.patience, config.patience).near_first();
        let scheduler = Scheduler::new(waits, &Timers::new().map_err(io::Error::other)?);
        let started = SystemTime::now();
        let shared = Shared {
            config,
            storage,
            scheduler,
            folders: Folders::default(),
            runs: Mutex::new(Runs {
                pending: HashMap::new(),
                named: HashMap::new(),
                life: started
                    .duration_since(UNIX_EPOCH)
                    .unwrap_or_default()
                    .as_nanos(),
                count: 0,
            }),
            roster: Roster::default(),
            started,
            builds: Builds::default(),
            key: key()?,
            leaving: CancellationToken::new(),
            left: CancellationToken::new(),
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// The result of the action: from the cache, unless that is to be skipped, or by a worker. All
    /// that ask for the same action at the same time share one run. `invocation` is the build that
    /// this is for.
    ///
    /// If all that wait go away, the action is cancelled after a while.
    ///
    /// # Errors
    /// If the action is not there, or no action. All that is found out later is the
    /// [`Outcome`](super::Outcome).
    pub async fn execute(
        &self,
        digest: Digest,
        skip_cache: bool,
        invocation: &Invocation,
    ) -> Result<Executing, Failure> {
        let shared = &self.shared;
        if shared.leaving.is_cancelled() {
            return Err(Failure::Stopped);
        }
        let asked = shared.builds.asked(invocation);
        let executing = self.find_or_run(digest, skip_cache, invocation).await?;
        asked.settled();
        Ok(executing)
    }

    async fn find_or_run(
        &self,
        digest: Digest,
        skip_cache: bool,
        invocation: &Invocation,
    ) -> Result<Executing, Failure> {
        let shared = &self.shared;
        if !skip_cache && let Some(result) = shared.storage.results.get(digest.hash()).await? {
            shared.builds.count(End::Cached);
            shared.builds.note(&invocation.id, End::Cached);
            let stage = Stage::Completed(Ok(Arc::new(result.into_message())));
            let run = Run::new(digest, shared.runs().name(digest), stage);
            return Ok(Executing::new(run, true));
        }
        let message = shared.storage.blobs.read(digest).await?;
        let action = Action::decode(message.clone());
        let action = action.map_err(|error| {
            Failure::Invalid(format!("{digest} is not the message of an action: {error}"))
        })?;
        loop {
            let mut pending = match shared.join(digest) {
                Ok(run) => {
                    let executing = Executing::new(Arc::clone(&run), false);
                    run.add_build(&shared.builds, &invocation.id);
                    tokio::spawn(Arc::clone(shared).drive(run, action, message));
                    return Ok(executing);
                }
                Err(executing) => executing,
            };
            // The API forbids that those share a run: one after another, then.
            if !action.do_not_cache {
                pending.run.add_build(&shared.builds, &invocation.id);
                return Ok(pending);
            }
            let _ = pending.outcome().await;
        }
    }

    /// What an operation of that name is about, if it is pending, or was a moment ago.
    pub fn operation(&self, name: &str) -> Option<Executing> {
        let runs = self.shared.runs();
        let run = runs.named.get(name)?;
        Some(Executing::new(Arc::clone(run), false))
    }

    /// What the farm does now.
    pub async fn snapshot(&self) -> Snapshot {
        let shared = &self.shared;
        let workers = shared.roster.views();
        let counts = shared.scheduler.counts().await.unwrap_or_default();
        let running: usize = workers.iter().map(|worker| worker.running.len()).sum();
        Snapshot {
            at: SystemTime::now(),
            started: shared.started,
            // A run that was cancelled may go on for a moment.
            waiting: counts.jobs.saturating_sub(running),
            workers,
            actions: shared.builds.total(),
            builds: shared.builds.recent(),
        }
    }

    /// New actions are refused. Workers end what they run, and leave; what waits then has no
    /// result.
    pub fn leave(&self) {
        self.shared.leaving.cancel();
        self.shared.stop_if_left();
    }

    /// Returns when the farm was told to leave, and no worker is left.
    pub async fn left(&self) {
        self.shared.left.cancelled().await;
    }
}

impl Shared {
    /// A new run of the action, or the one that is pending.
    fn join(&self, action: Digest) -> Result<Arc<Run>, Executing> {
        let mut runs = self.runs();
        if let Some(run) = runs.pending.get(&action) {
            // Under the lock, so that it is not abandoned now.
            return Err(Executing::new(Arc::clone(run), false));
        }
        let run = Run::new(action, runs.name(action), Stage::Queued);
        runs.pending.insert(action, Arc::clone(&run));
        runs.named.insert(run.name.clone(), Arc::clone(&run));
        Ok(run)
    }

    /// Brings the run to its end.
    async fn drive(self: Arc<Self>, run: Arc<Run>, action: Action, message: Bytes) {
        let do_not_cache = action.do_not_cache;
        let outcome = contained(self.outcome(&run, action, message)).await;
        let outcome = outcome.unwrap_or_else(|defect| {
            run.cancel(|| drop(self.scheduler.withdraw_job(run.action)));
            Err(Failure::Defect(defect))
        });
        if let Ok(result) = &outcome
            && result.exit_code == 0
            && !do_not_cache
        {
            self.remember(run.action, result).await;
        }
        self.builds.count(End::from(&outcome));
        run.complete(&self.builds, outcome);
        self.runs().forget(&run);
        // A client that lost its connection just now may ask for it.
        sleep(self.config.abandoned_after).await;
        self.runs().named.remove(&run.name);
    }

    /// Puts the result into the cache. If that fails, the action has its result all the same.
    async fn remember(&self, action: Digest, result: &ActionResult) {
        let stored = match StoredResult::try_from(result) {
            Ok(result) => self.storage.results.put(action.hash(), result).await,
            // A session has looked at it.
            Err(_) => return,
        };
        if let Err(error) = stored {
            tracing::warn!("the result of {action} is not in the cache: {error}");
        }
    }

    async fn outcome(&self, run: &Arc<Run>, action: Action, message: Bytes) -> Outcome {
        let mut outcome = pin!(self.schedule(run, action, message));
        loop {
            tokio::select! {
                biased;
                outcome = &mut outcome => return outcome,
                () = run.abandoned(self.config.abandoned_after) => {}
            }
            if self.abandon(run) {
                return Err(Failure::Cancelled);
            }
        }
    }

    async fn schedule(&self, run: &Arc<Run>, action: Action, message: Bytes) -> Outcome {
        let prepared = prepare(
            &self.storage.blobs,
            &self.folders,
            &self.config,
            action,
            message,
        )
        .await?;
        // It is worth waiting for a worker that has one of the largest inputs.
        let large = |file: &&Digest| file.size() >= self.config.near_size;
        let large = prepared.files.iter().take_while(large).take(MOST_NEAR);
        let near: Vec<Digest> = large.copied().collect();
        let work = Work {
            run: Arc::clone(run),
            prepared: Arc::new(prepared),
        };
        let job = Job::with_dependencies(run.action, near, work);
        match self.scheduler.schedule_job(job).await {
            Ok(outcome) => Outcome::clone(&outcome),
            Err(_) => Err(Failure::Stopped),
        }
    }

    /// A farm that is about to end, and has no workers, has no results.
    pub(super) fn stop_if_left(&self) {
        if self.leaving.is_cancelled() && self.roster.len() == 0 {
            // It may have been stopped before.
            drop(self.scheduler.stop());
            self.left.cancel();
        }
    }

    /// Nobody waits for the run. False if somebody does, or it is over.
    fn abandon(&self, run: &Arc<Run>) -> bool {
        let mut runs = self.runs();
        if *run.waiting.borrow() > 0 {
            return false;
        }
        let ended = run.cancel(|| drop(self.scheduler.withdraw_job(run.action)));
        if ended {
            runs.pending.remove(&run.action);
        }
        ended
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        lock(&self.runs)
    }
}

/// What nobody guesses.
fn key() -> io::Result<String> {
    let mut random = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    Ok(Digest::of(&random).hex())
}

impl Runs {
    /// It is over. An abandoned run may have a successor.
    fn forget(&mut self, run: &Arc<Run>) {
        let pending = self.pending.get(&run.action);
        if pending.is_some_and(|pending| Arc::ptr_eq(pending, run)) {
            self.pending.remove(&run.action);
        }
    }

    fn name(&mut self, action: Digest) -> String {
        self.count += 1;
        format!("{action}/{:x}/{}", self.life, self.count)
    }
}
