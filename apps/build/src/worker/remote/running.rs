//! Runs the worker, from its start to its end.

use std::fs;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use filch_sync::lock;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tonic::Code;

use super::cache::{Counting, Traffic, WorkerCache};
use super::channel::{channel, is_encrypted, trust};
use super::config::{StartError, WorkerConfig};
use super::link::Station;
use super::peers::{Peers, Serving};
use crate::cache::{Cache, CacheConfig};
use crate::server::Tokens;
use crate::storage::{Change, Limits, Location, Storage};
use crate::worker::{Runner, remove};

/// The waits after failed connections: the first one, and the longest, to which they grow.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The time that other workers' last fetches have when a worker ends.
const LAST_FETCHES: Duration = Duration::from_secs(2);

/// A running worker. Dropping this does not end it.
#[derive(Debug)]
pub struct RunningWorker {
    at: Option<SocketAddr>,
    counting: Counting,
    leaving: CancellationToken,
    killed: CancellationToken,
    ended: JoinHandle<Result<(), StartError>>,
}

impl RunningWorker {
    /// Starts a worker. It connects to the coordinator by itself, and again when it has to.
    ///
    /// # Errors
    /// If it cannot use its folder, its address, a certificate or the settings for the coordinator.
    pub async fn start(config: WorkerConfig) -> Result<Self, StartError> {
        let trust = trust(config.authority.as_deref())?;
        let token = config.token.as_deref().map(|file| {
            Tokens::line(file).map_err(|why| StartError::Token {
                file: file.to_owned(),
                why,
            })
        });
        let token = token.transpose()?;
        let coordinator = channel(&config.coordinator, token.as_deref(), &trust);
        let coordinator = coordinator
            .map_err(|error| StartError::Coordinator(format!("{}: {error}", config.coordinator)))?;
        let location = Location::Disk(config.folder.join("cache"));
        let limits = Limits {
            blob: config.cache_limit,
            disk: config.cache_limit,
            reserve: config.disk_reserve,
        };
        let storage = Storage::open(&location, limits).await;
        let storage = storage.map_err(StartError::Cache)?;
        let actions = config.folder.join("actions");
        // It is from an earlier life: no other worker uses this folder.
        if let Err(error) = remove(&actions) {
            let folder = actions.display();
            tracing::warn!(%folder, %error, "what earlier actions left cannot be removed");
        }
        fs::create_dir_all(&actions).map_err(StartError::Folder)?;
        let key = config.certificate.as_ref().map(|it| it.key.as_path());
        let secrets: Vec<_> = config.token.as_deref().into_iter().chain(key).collect();
        let sandbox = config.sandbox.open(&config.folder, &secrets).await?;
        let changes = storage.blobs.changes();
        let cache = Arc::new(WorkerCache {
            blobs: storage.blobs.clone(),
            coordinator,
            instance: config.instance.clone(),
            peers: Peers::new(trust),
            counting: Counting::default(),
            underway: Mutex::default(),
        });
        let killed = CancellationToken::new();
        warn_of_plain_text(&config);
        let mut served = None;
        if let Some(listen) = &config.listen {
            let serving = Serving {
                cache: Cache::new(storage, CacheConfig::default()),
                peers: cache.peers.clone(),
                counting: cache.counting.clone(),
            };
            served = Some(serving.start(listen, config.certificate.as_ref()).await?);
        }
        let (at, address, server) = match served {
            Some(served) => (Some(served.at), served.address, Some(served.serving)),
            None => (None, String::new(), None),
        };
        let leaving = CancellationToken::new();
        let counting = cache.counting.clone();
        let station = Station {
            runner: Runner::new(&config.name, actions, config.limits.clone(), sandbox),
            config,
            address,
            cache,
            leaving: leaving.clone(),
        };
        let until = killed.clone();
        let ended = tokio::spawn(async move {
            let life = live(station, changes);
            let ended = until.run_until_cancelled_owned(life).await;
            // So that a caller that waits for the end finds the folder and the address free.
            if let Some(server) = server {
                server.end(Instant::now() + LAST_FETCHES).await;
            }
            ended.unwrap_or(Ok(()))
        });
        Ok(Self {
            at,
            counting,
            leaving,
            killed,
            ended,
        })
    }

    /// Returns the address where it serves its blobs, if it does.
    pub fn address(&self) -> Option<SocketAddr> {
        self.at
    }

    /// Returns how many blobs have come and gone.
    pub fn traffic(&self) -> Traffic {
        *lock(&self.counting)
    }

    /// Lets the worker finish what it runs, and then end.
    pub fn leave(&self) {
        self.leaving.cancel();
    }

    /// Kills what the worker runs, and disconnects it at once.
    pub fn kill(&self) {
        self.killed.cancel();
    }

    /// Waits until the worker has ended.
    ///
    /// # Errors
    /// If the coordinator refuses it.
    ///
    /// # Panics
    /// If the worker has panicked.
    pub async fn ended(&mut self) -> Result<(), StartError> {
        match (&mut self.ended).await.map_err(JoinError::try_into_panic) {
            Ok(ended) => ended,
            Err(Ok(panic)) => resume_unwind(panic),
            // The runtime ends.
            Err(Err(_)) => Ok(()),
        }
    }
}

/// Warns if the key is sent in plain text: a stranger that reads it on the network may read the
/// blobs of all workers, even of those with TLS.
fn warn_of_plain_text(config: &WorkerConfig) {
    let coordinator = config.coordinator.parse();
    let encrypted = coordinator.is_ok_and(|uri| is_encrypted(&uri));
    if encrypted && config.listen.is_some() && config.certificate.is_none() {
        tracing::warn!(
            "the coordinator has TLS, but this worker has no certificate: its blobs go to other \
             workers in plain text, and so does the key with which all workers' blobs are read"
        );
    }
}

/// Makes one connection after another.
async fn live(
    station: Station,
    mut changes: mpsc::UnboundedReceiver<Change>,
) -> Result<(), StartError> {
    let mut wait = FIRST_WAIT;
    loop {
        let begun = Instant::now();
        let ended = station.work(&mut changes).await;
        if station.leaving.is_cancelled() {
            return Ok(());
        }
        match ended {
            Ok(()) => tracing::info!("the coordinator has ended"),
            Err(status) => {
                let hopeless = [
                    Code::Unauthenticated,
                    Code::PermissionDenied,
                    Code::Unimplemented,
                    Code::InvalidArgument,
                ];
                if hopeless.contains(&status.code()) {
                    return Err(StartError::Refused(status));
                }
                tracing::warn!("no connection to the coordinator: {}", status.message());
            }
        }
        if begun.elapsed() > LONGEST_WAIT {
            wait = FIRST_WAIT;
        }
        tokio::select! {
            () = sleep(wait) => wait = (wait * 2).min(LONGEST_WAIT),
            () = station.leaving.cancelled() => return Ok(()),
        }
    }
}
