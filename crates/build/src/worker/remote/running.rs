//! The worker, from its start to its end.

use std::fs;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bazel_remote_apis::google::bytestream::byte_stream_server::ByteStreamServer;
use futures_util::stream;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tonic::Code;
use tonic::transport::Server;

use super::cache::WorkerCache;
use super::config::{StartError, WorkerConfig};
use super::coordinator::coordinator;
use super::link::Station;
use super::peers::{Peers, Serving};
use super::traffic::{Counting, Traffic};
use crate::cache::{Cache, CacheConfig};
use crate::storage::{Change, Limits, Location, Storage};
use crate::worker::{Runner, remove};

/// After a connection has failed, the next one is tried after that long, and later ones later.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// When a worker ends, those who fetch its blobs have that long to come to an end.
const LAST_FETCHES: Duration = Duration::from_secs(2);

/// A worker that runs. Dropped, it goes on.
#[derive(Debug)]
pub struct RunningWorker {
    address: Option<SocketAddr>,
    counting: Counting,
    leaving: CancellationToken,
    killed: CancellationToken,
    ended: JoinHandle<Result<(), StartError>>,
}

impl RunningWorker {
    /// Starts one. It connects to the coordinator by itself, and again when it has to.
    ///
    /// # Errors
    /// If it cannot use its folder or its address, or what it was told of the coordinator.
    pub async fn start(config: WorkerConfig) -> Result<Self, StartError> {
        let location = Location::Disk(config.folder.join("cache"));
        let limits = Limits {
            blob: config.cache_limit,
            disk: config.cache_limit,
        };
        let storage = Storage::open(&location, limits).await;
        let storage = storage.map_err(StartError::Cache)?;
        let actions = config.folder.join("actions");
        // Of an earlier life: no other worker uses this folder.
        if let Err(error) = remove(&actions) {
            let folder = actions.display();
            tracing::warn!(%folder, %error, "what earlier actions left cannot be removed");
        }
        fs::create_dir_all(&actions).map_err(StartError::Folder)?;
        let changes = storage.blobs.changes();
        let cache = Arc::new(WorkerCache {
            blobs: storage.blobs.clone(),
            coordinator: coordinator(&config)?,
            instance: config.instance.clone(),
            peers: Peers::default(),
            counting: Counting::default(),
            underway: Mutex::default(),
        });
        let killed = CancellationToken::new();
        let closing = CancellationToken::new();
        let mut serving = None;
        let mut address = None;
        if let Some(listen) = config.listen {
            let service = Serving {
                cache: Cache::new(storage, CacheConfig::default()),
                peers: cache.peers.clone(),
                counting: cache.counting.clone(),
            };
            let (bound, server) = serve(listen, service, closing.clone()).await?;
            (address, serving) = (Some(bound), Some(server));
        }
        let named = config.address.clone();
        let shown = address.map(|address| format!("http://{address}"));
        let leaving = CancellationToken::new();
        let counting = cache.counting.clone();
        let station = Station {
            runner: Runner::new(&config.name, actions, config.limits.clone()),
            config,
            address: named.or(shown).unwrap_or_default(),
            cache,
            leaving: leaving.clone(),
        };
        let until = killed.clone();
        let ended = tokio::spawn(async move {
            let ended = until
                .run_until_cancelled_owned(live(station, changes))
                .await;
            // A caller that waits for the end finds the folder and the address free.
            closing.cancel();
            if let Some(mut server) = serving
                && timeout(LAST_FETCHES, &mut server).await.is_err()
            {
                server.abort();
            }
            ended.unwrap_or(Ok(()))
        });
        Ok(Self {
            address,
            counting,
            leaving,
            killed,
            ended,
        })
    }

    /// Where it serves its blobs, if it does.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Blobs that have come and gone.
    pub fn traffic(&self) -> Traffic {
        self.counting.so_far()
    }

    /// It ends what it runs, and then ends itself.
    pub fn leave(&self) {
        self.leaving.cancel();
    }

    /// Kills what it runs, and leaves the coordinator at once.
    pub fn kill(&self) {
        self.killed.cancel();
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// If the coordinator does not want it.
    ///
    /// # Panics
    /// If the worker has.
    pub async fn ended(&mut self) -> Result<(), StartError> {
        match (&mut self.ended).await.map_err(JoinError::try_into_panic) {
            Ok(ended) => ended,
            Err(Ok(panic)) => resume_unwind(panic),
            // The runtime ends.
            Err(Err(_)) => Ok(()),
        }
    }
}

async fn serve(
    listen: SocketAddr,
    service: Serving,
    closing: CancellationToken,
) -> Result<(SocketAddr, JoinHandle<()>), StartError> {
    let refuse = |error| StartError::Listen(listen, error);
    let listener = TcpListener::bind(listen).await.map_err(refuse)?;
    let address = listener.local_addr().map_err(refuse)?;
    let incoming = stream::unfold(listener, async |listener| {
        let accepted = listener.accept().await.map(|(stream, _)| {
            // Without it, answers are later.
            let _ = stream.set_nodelay(true);
            stream
        });
        Some((accepted, listener))
    });
    let server = Server::builder()
        .initial_stream_window_size(2 << 20)
        .initial_connection_window_size(8 << 20)
        .http2_keepalive_interval(Some(Duration::from_secs(30)))
        .add_service(ByteStreamServer::new(service))
        .serve_with_incoming_shutdown(incoming, closing.cancelled_owned());
    let serving = tokio::spawn(async move {
        if let Err(error) = server.await {
            tracing::error!("this worker serves its blobs no longer: {error}");
        }
    });
    Ok((address, serving))
}

/// One connection after another.
async fn live(
    station: Station,
    mut changes: mpsc::UnboundedReceiver<Change>,
) -> Result<(), StartError> {
    let mut wait = FIRST_WAIT;
    loop {
        let begun = tokio::time::Instant::now();
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
