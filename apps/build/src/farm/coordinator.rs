//! The farm, as clients use it.

use std::collections::HashMap;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use clap::Args;
use filch_build_scheduler::{Config, Job, Scheduler};
use filch_sync::lock;
use filch_timers::Timers;
use lru::LruCache;
use prost::Message as _;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tonic::Code;
use uuid::Uuid;

use super::action::{Folders, MOST_FOLDERS, prepare};
use super::builds::{Builds, End, Invocation};
use super::execution::Executing;
use super::failure::{Failure, contained};
use super::run::{Outcome, Run, Stage, Work};
use super::snapshot::Snapshot;
use super::workers::Roster;
use crate::digest::Digest;
use crate::options::{defaults, milliseconds, size};
use crate::reapi::{Action, ActionResult};
use crate::storage::{Storage, StoredResult};

/// The settings of a farm.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct FarmConfig {
    /// A property of the workers' platform, as `OSFamily=linux`; an action that asks for another
    /// one is refused
    #[arg(long, value_name = "NAME=VALUE", value_parser = property)]
    pub platform: Vec<(String, String)>,
    /// A worker that sends nothing for this long is taken for dead.
    #[arg(skip = Duration::from_secs(10))]
    pub silence: Duration,
    /// An action that nobody has waited for, for this long, is cancelled: until then, a client that
    /// lost its connection can come back.
    #[arg(skip = Duration::from_secs(5))]
    pub abandoned_after: Duration,
    /// A worker that could not run an action gets none for this long.
    #[arg(skip = Duration::from_secs(1))]
    pub pause: Duration,
    /// The milliseconds for which an action waits for a worker that has its larger inputs
    #[arg(long, value_name = "MILLISECONDS", default_value = "50", value_parser = milliseconds)]
    pub patience: Duration,
    /// An input of this size makes a worker that has it worth waiting for
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = size)]
    pub near_size: u64,
}

impl Default for FarmConfig {
    fn default() -> Self {
        defaults()
    }
}

fn property(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("not NAME=VALUE".into()),
    }
}

/// The number of the largest inputs that make a worker near.
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
    /// The key that workers show each other.
    pub(super) key: String,
    /// Cancelled when the coordinator is about to end.
    pub(super) leaving: CancellationToken,
    /// Cancelled when, after that, no worker is left.
    left: CancellationToken,
}

#[derive(Debug)]
struct Runs {
    /// Those that others may share, by their actions.
    pending: HashMap<Digest, Arc<Run>>,
    /// All pending runs, and those that ended a moment ago.
    named: HashMap<String, Arc<Run>>,
    /// The coordinator's start in nanoseconds, a part of all names: they hold for one life of it.
    life: u128,
    count: u64,
}

impl Farm {
    /// Starts a farm without workers.
    ///
    /// # Errors
    /// If the scheduler's timer thread cannot be started.
    pub fn start(config: FarmConfig, storage: Storage) -> io::Result<Self> {
        let waits = Config::new(config.patience, config.patience).near_first();
        let scheduler = Scheduler::new(waits, &Timers::new().map_err(io::Error::other)?);
        let started = SystemTime::now();
        let life = started.duration_since(UNIX_EPOCH).unwrap_or_default();
        let shared = Shared {
            config,
            storage,
            scheduler,
            folders: Mutex::new(LruCache::new(MOST_FOLDERS)),
            runs: Mutex::new(Runs {
                pending: HashMap::new(),
                named: HashMap::new(),
                life: life.as_nanos(),
                count: 0,
            }),
            roster: Roster::default(),
            started,
            builds: Builds::default(),
            key: format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()),
            leaving: CancellationToken::new(),
            left: CancellationToken::new(),
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// Returns the result of the action: from the cache, unless that is to be skipped, or from a
    /// worker. All that ask for one action at the same time share one run, unless it is not to be
    /// cached. `invocation` is the build that asks.
    ///
    /// If everybody who waits goes away, the action is cancelled after a while.
    ///
    /// # Errors
    /// If the action is not in the storage, or is invalid. Later errors are in the
    /// [`Outcome`](super::Outcome).
    pub async fn execute(
        &self,
        digest: Digest,
        skip_cache: bool,
        invocation: &Invocation,
    ) -> Result<Executing, Failure> {
        let shared = &self.shared;
        if shared.leaving.is_cancelled() {
            return Err(Failure::stopped());
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
            Failure::invalid(&format!(
                "{digest} is not the message of an action: {error}"
            ))
        })?;
        let (executing, is_new) = shared.join(digest, action.do_not_cache);
        let run = &executing.run;
        run.add_build(&shared.builds, &invocation.id);
        if is_new {
            tokio::spawn(Arc::clone(shared).drive(Arc::clone(run), action, message));
        }
        Ok(executing)
    }

    /// Returns a wait for the operation of that name, if it is pending or ended a moment ago.
    pub fn operation(&self, name: &str) -> Option<Executing> {
        let runs = self.shared.runs();
        let run = runs.named.get(name)?;
        Some(Executing::new(Arc::clone(run), false))
    }

    /// Returns what the farm does now.
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

    /// Refuses new actions. Workers finish what they run, and leave; what still waits then fails.
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
    /// Returns a wait for the pending run of the action, or for a new one, and true if it is new.
    /// The API forbids that others share a run that is `alone`.
    fn join(&self, action: Digest, alone: bool) -> (Executing, bool) {
        let mut runs = self.runs();
        if !alone && let Some(run) = runs.pending.get(&action) {
            // The count of waiters rises under the lock, so that the run is not abandoned now.
            return (Executing::new(Arc::clone(run), false), false);
        }
        let run = Run::new(action, runs.name(action), Stage::Queued);
        if !alone {
            runs.pending.insert(action, Arc::clone(&run));
        }
        runs.named.insert(run.name.clone(), Arc::clone(&run));
        (Executing::new(run, false), true)
    }

    /// Brings the run to its end.
    async fn drive(self: Arc<Self>, run: Arc<Run>, action: Action, message: Bytes) {
        let do_not_cache = action.do_not_cache;
        let outcome = contained(self.outcome(&run, action, message)).await;
        let outcome = outcome.unwrap_or_else(|defect| {
            run.cancel(|| drop(self.scheduler.withdraw_job(run.job)));
            Err(Failure::new(Code::Internal, defect))
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

    /// Puts the result into the cache. If that fails, clients get the result all the same.
    async fn remember(&self, action: Digest, result: &ActionResult) {
        let stored = match StoredResult::try_from(result) {
            Ok(result) => self.storage.results.put(action.hash(), result).await,
            // The session has checked that it is a result.
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
                let why = "the action was cancelled: nobody waited for it";
                return Err(Failure::new(Code::Cancelled, why));
            }
        }
    }

    async fn schedule(&self, run: &Arc<Run>, action: Action, message: Bytes) -> Outcome {
        let (blobs, platform) = (&self.storage.blobs, &self.config.platform);
        let prepared = prepare(blobs, &self.folders, platform, action, message).await?;
        // It is worth waiting for a worker that has one of the largest inputs.
        let large = |file: &&Digest| file.size() >= self.config.near_size;
        let large = prepared.files.iter().take_while(large).take(MOST_NEAR);
        let near: Vec<Digest> = large.copied().collect();
        let work = Work {
            run: Arc::clone(run),
            prepared: Arc::new(prepared),
        };
        let job = Job::with_dependencies(run.job, near, work);
        match self.scheduler.schedule_job(job).await {
            Ok(outcome) => Outcome::clone(&outcome),
            Err(_) => Err(Failure::stopped()),
        }
    }

    /// Stops the scheduler if the farm is leaving and has no workers: what waits then fails.
    pub(super) fn stop_if_left(&self) {
        if self.leaving.is_cancelled() && self.roster.len() == 0 {
            // It may have been stopped before.
            drop(self.scheduler.stop());
            self.left.cancel();
        }
    }

    /// Forgets a run that nobody waits for. Returns false if somebody does, or if it is over.
    fn abandon(&self, run: &Arc<Run>) -> bool {
        let mut runs = self.runs();
        if *run.waiting.borrow() > 0 {
            return false;
        }
        let ended = run.cancel(|| drop(self.scheduler.withdraw_job(run.job)));
        if ended {
            runs.forget(run);
        }
        ended
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        lock(&self.runs)
    }
}

impl Runs {
    /// Forgets a run that is over. An abandoned run may have a successor, which stays.
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
