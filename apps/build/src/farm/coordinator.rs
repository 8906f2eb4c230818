//! The farm, as clients use it.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use filch_build_scheduler::{Config, Properties};
use filch_sync::lock;
use filch_timers::Timers;
use lru::LruCache;
use prost::Message as _;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::action::{Folders, MOST_FOLDERS};
use super::builds::{Builds, End, Invocation, Times};
use super::execution::Executing;
use super::failure::Failure;
use super::queue::Queue;
use super::run::{Run, Stage};
use super::snapshot::Snapshot;
use crate::digest::Digest;
use crate::options::{defaults, milliseconds, property, size};
use crate::reapi::Action;
use crate::storage::Storage;

/// The settings of a farm.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct FarmConfig {
    /// A platform of workers that may come, as `OSFamily=linux,ISA=x86-64`: actions wait for it.
    /// Others wait only if a worker that fits is here, or left within the last minute
    #[arg(long, value_name = "NAME=VALUE,…", value_parser = platform)]
    pub platform: Vec<Properties>,
    /// A platform whose last worker has gone counts for this long.
    #[arg(skip = Duration::from_secs(60))]
    pub remembered: Duration,
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

fn platform(text: &str) -> Result<Properties, String> {
    text.split(',').map(property).collect()
}

/// A coordinator. Clones are handles of the same one.
#[derive(Debug, Clone)]
pub struct Farm {
    pub(super) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) config: FarmConfig,
    pub(super) storage: Storage,
    /// The instance that workers have to name.
    pub(super) instance: String,
    pub(super) queue: Queue,
    pub(super) folders: Folders,
    runs: Mutex<Runs>,
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
pub(super) struct Runs {
    /// Those that others may share, by their actions.
    pending: HashMap<Digest, Arc<Run>>,
    /// All pending runs, and those that ended a moment ago.
    pub(super) named: HashMap<String, Arc<Run>>,
    /// The coordinator's start in nanoseconds, a part of all names: they hold for one life of it.
    life: u128,
    count: u64,
}

impl Farm {
    /// Starts a farm of that instance, without workers.
    ///
    /// # Errors
    /// If the scheduler's timer thread cannot be started.
    pub fn start(config: FarmConfig, instance: String, storage: Storage) -> io::Result<Self> {
        let waits = Config::new(config.patience, config.patience).near_first();
        let timers = Timers::new().map_err(io::Error::other)?;
        let mut expected = config.platform.clone();
        if expected.is_empty() {
            // Actions that ask for nothing wait for the first worker.
            expected.push(Properties::new());
        }
        let started = SystemTime::now();
        let life = started.duration_since(UNIX_EPOCH).unwrap_or_default();
        let shared = Shared {
            config,
            instance,
            storage,
            queue: Queue::new(waits, timers, expected),
            folders: Mutex::new(LruCache::new(MOST_FOLDERS)),
            runs: Mutex::new(Runs {
                pending: HashMap::new(),
                named: HashMap::new(),
                life: life.as_nanos(),
                count: 0,
            }),
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
    /// cached, and the best of the priorities. `invocation` is the build that asks.
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
        if !skip_cache && let Some(executing) = self.cached(digest).await? {
            shared.builds.count(End::Cached);
            shared.builds.note(&invocation.id, End::Cached);
            return Ok(executing);
        }
        let message = shared.storage.blobs.read(digest).await?;
        let action = Action::decode(message.clone());
        let action = action.map_err(|error| {
            Failure::invalid(&format!(
                "{digest} is not the message of an action: {error}"
            ))
        })?;
        let (executing, is_new) = shared.join(digest, invocation, action.do_not_cache);
        let run = &executing.run;
        run.add_build(&shared.builds, &invocation.id);
        run.hurry(invocation.priority);
        if is_new {
            tokio::spawn(Arc::clone(shared).drive(Arc::clone(run), action, message));
        }
        Ok(executing)
    }

    /// Returns a wait for the operation of that name, if it is pending or ended a moment ago. One
    /// that is not known, as from an earlier life of the coordinator, goes on as if its action were
    /// asked for now; a client that retries seldom may have no other try left. Returns `None` if
    /// the action cannot be found.
    ///
    /// # Errors
    /// As [`Farm::execute`].
    pub async fn operation(
        &self,
        name: &str,
        invocation: &Invocation,
    ) -> Result<Option<Executing>, Failure> {
        let Some(action) = action_of(name) else {
            return Ok(None);
        };
        let known = {
            let runs = self.shared.runs();
            let run = runs.named.get(name).or_else(|| runs.pending.get(&action));
            run.map(|run| Executing::new(Arc::clone(run), false))
        };
        if known.is_some() {
            return Ok(known);
        }
        match self.execute(action, false, invocation).await {
            Err(failure) if failure.missing == [action] => Ok(None),
            executing => executing.map(Some),
        }
    }

    /// Returns the result that is in the cache, as an operation.
    async fn cached(&self, action: Digest) -> Result<Option<Executing>, Failure> {
        let shared = &self.shared;
        let Some(result) = shared.storage.results.get(action.hash()).await? else {
            return Ok(None);
        };
        let stage = Stage::Completed(Ok(Arc::new(result.into_message())));
        let name = shared.runs().name(action);
        let run = Run::new(action, &Invocation::default(), name, stage);
        Ok(Some(Executing::new(run, true)))
    }

    /// Returns what the farm does now.
    pub fn snapshot(&self) -> Snapshot {
        let shared = &self.shared;
        let pools = shared.queue.pools();
        let workers = pools.iter().flat_map(|pool| pool.roster.workers());
        let mut workers: Vec<_> = workers.collect();
        workers.sort_by(|one, other| (&one.name, one.since).cmp(&(&other.name, other.since)));
        let running: usize = workers.iter().map(|worker| worker.running.len()).sum();
        let (actions, builds, failed, lost) = shared.builds.recent();
        Snapshot {
            at: SystemTime::now(),
            started: shared.started,
            // A run that was cancelled may go on for a moment.
            waiting: shared.queue.len().saturating_sub(running),
            workers,
            actions,
            builds,
            failed,
            lost,
            absent: shared.queue.absent(),
        }
    }

    /// Returns the times that actions took.
    pub fn times(&self) -> Times {
        self.shared.builds.times.clone()
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
    fn join(&self, action: Digest, asks: &Invocation, alone: bool) -> (Executing, bool) {
        let mut runs = self.runs();
        if !alone && let Some(run) = runs.pending.get(&action) {
            // The count of waiters rises under the lock, so that the run is not abandoned now.
            return (Executing::new(Arc::clone(run), false), false);
        }
        let run = Run::new(action, asks, runs.name(action), Stage::Queued);
        if !alone {
            runs.pending.insert(action, Arc::clone(&run));
        }
        runs.named.insert(run.name.clone(), Arc::clone(&run));
        (Executing::new(run, false), true)
    }

    /// Stops the queue if the farm is leaving and has no workers: what waits then fails.
    pub(super) fn stop_if_left(&self) {
        if self.leaving.is_cancelled() && self.queue.pools().is_empty() {
            self.queue.stop();
            self.left.cancel();
        }
    }

    pub(super) fn runs(&self) -> MutexGuard<'_, Runs> {
        lock(&self.runs)
    }
}

/// Reads the action in the name of an operation.
fn action_of(name: &str) -> Option<Digest> {
    let mut parts = name.split('/');
    let (hash, size) = (parts.next()?, parts.next()?);
    Digest::new(hash, size.parse().ok()?).ok()
}

impl Runs {
    /// Forgets a run that is over. An abandoned run may have a successor, which stays.
    pub(super) fn forget(&mut self, run: &Arc<Run>) {
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
