//! One connection to the coordinator: orders come, results go.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use prost::Message as _;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_util::sync::CancellationToken;
use tonic::{Status, Streaming};

use super::announced::{Announced, News};
use super::cache::{Errand, WorkerCache};
use super::config::WorkerConfig;
use crate::digest::Digest;
use crate::protocol::farm_client::FarmClient;
use crate::protocol::from_worker::Event;
use crate::protocol::to_worker::Order;
use crate::protocol::{
    Alive, Blobs, Done, Failure, FromWorker, Hello, Leaving, MOST_IN_MESSAGE, Run, ToWorker,
    Welcome, done,
};
use crate::reapi::now;
use crate::storage::{Change, StorageError};
use crate::worker::{RunError, Runner};

type Changes = mpsc::UnboundedReceiver<Change>;

/// The time in which the coordinator has to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// The state shared by all connections of a worker.
pub(super) struct Station {
    pub(super) config: WorkerConfig,
    /// The address where others read its blobs; empty if they cannot.
    pub(super) address: String,
    pub(super) cache: Arc<WorkerCache>,
    pub(super) runner: Runner,
    /// Cancelled when the worker is to leave.
    pub(super) leaving: CancellationToken,
}

/// One connection.
struct Link<'a> {
    station: &'a Station,
    events: mpsc::Sender<FromWorker>,
    announced: Announced,
    running: JoinSet<(u64, done::Outcome)>,
    cancels: HashMap<u64, oneshot::Sender<()>>,
}

impl Station {
    /// Connects, and works until the connection ends: `Ok` if the coordinator ended it.
    pub(super) async fn work(&self, changes: &mut Changes) -> Result<(), Status> {
        let (events, said) = mpsc::channel(64);
        let said = stream::unfold(said, async |mut said| Some((said.recv().await?, said)));
        // The list below contains these changes.
        while changes.try_recv().is_ok() {}
        let blobs = self.cache.blobs.list();
        let (first, rest) = blobs.split_at(blobs.len().min(MOST_IN_MESSAGE));
        let mut client = FarmClient::new(self.cache.coordinator.clone());
        let mut link = Link {
            station: self,
            events,
            announced: Announced::new(first),
            running: JoinSet::new(),
            cancels: HashMap::new(),
        };
        link.hello(first).await?;
        let orders = timeout(PATIENCE, client.work(said)).await;
        let mut orders = orders.map_err(|_| silent())??.into_inner();
        let welcome = timeout(PATIENCE, orders.message()).await;
        let welcome = welcome.map_err(|_| silent())??;
        let Some(Order::Welcome(welcome)) = welcome.and_then(|order| order.order) else {
            let what = "the coordinator does not begin with Welcome";
            return Err(Status::internal(what));
        };
        let beat = Duration::from_millis(welcome.silence_ms / 4).max(Duration::from_millis(1));
        tracing::info!("at work for {}", self.config.coordinator);
        link.welcome(welcome, rest).await?;
        link.live(beat, &mut orders, changes).await
        // Dropping the link drops what still runs, and so kills it.
    }
}

impl Link<'_> {
    async fn hello(&mut self, blobs: &[Digest]) -> Result<(), Status> {
        let config = &self.station.config;
        self.say(Event::Hello(Hello {
            name: config.name.clone(),
            address: self.station.address.clone(),
            slots: config.slots,
            holds: Some(message(blobs)),
            properties: config.platform(),
            milli_cpus: config.cpus.max(config.slots).saturating_mul(1000),
            memory: config.memory(),
            instance: config.instance.clone(),
        }))
        .await
    }

    /// Announces the blobs that `Hello` had no room for.
    async fn welcome(&mut self, welcome: Welcome, rest: &[Digest]) -> Result<(), Status> {
        let most = usize::try_from(welcome.most_held).unwrap_or(usize::MAX);
        self.announced.set_most(most);
        self.station.cache.peers.set_key(welcome.key);
        // The first of the list was used last.
        let rest = rest.iter().rev();
        self.tell(rest.map(|&blob| Change { blob, there: true }))
            .await
    }

    async fn live(
        &mut self,
        beat: Duration,
        orders: &mut Streaming<ToWorker>,
        changes: &mut Changes,
    ) -> Result<(), Status> {
        let mut beats = interval_at(Instant::now() + beat, beat);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let station = self.station;
        let mut leaving = false;
        loop {
            tokio::select! {
                order = orders.message() => match order? {
                    Some(ToWorker { order: Some(order) }) => self.take(order),
                    Some(ToWorker { order: None }) => {}
                    None => return Ok(()),
                },
                Some(change) = changes.recv() => {
                    let more = std::iter::from_fn(|| changes.try_recv().ok());
                    self.tell(std::iter::once(change).chain(more)).await?;
                }
                Some(ended) = self.running.join_next() => {
                    // Before the result, so that the coordinator knows where its blobs are.
                    self.tell(std::iter::from_fn(|| changes.try_recv().ok())).await?;
                    self.tell_done(ended).await?;
                }
                _ = beats.tick() => self.say(Event::Alive(Alive {})).await?,
                () = station.leaving.cancelled(), if !leaving => {
                    leaving = true;
                    self.say(Event::Leaving(Leaving {})).await?;
                }
            }
        }
    }

    fn take(&mut self, order: Order) {
        match order {
            Order::Run(run) => self.run(run),
            Order::Cancel(cancel) => {
                // Otherwise the run has just ended.
                if let Some(cancel) = self.cancels.remove(&cancel.run) {
                    let _ = cancel.send(());
                }
            }
            // The coordinator sends no more actions, and ends the stream after the last one.
            Order::Leave(_) | Order::Welcome(_) => {}
        }
    }

    fn run(&mut self, run: Run) {
        let number = run.run;
        let (cancel, cancelled) = oneshot::channel();
        self.cancels.insert(number, cancel);
        let runner = self.station.runner.clone();
        let cache = Arc::clone(&self.station.cache);
        self.running.spawn(async move {
            let action = run.action.as_ref().map(Digest::try_from);
            let Some(Ok(action)) = action else {
                let error = RunError::Refused("the order names no action".to_owned());
                return (number, failure(&error));
            };
            let errand = Errand::new(cache, run);
            let cancelled = async {
                // If the link is gone, so is the reason to run it.
                let _ = cancelled.await;
            };
            let result = runner.run(action, &errand, cancelled).await;
            let outcome = match result {
                Ok(mut result) => match errand.deliver().await {
                    Ok(()) => {
                        if let Some(metadata) = &mut result.execution_metadata {
                            // The outputs were kept here; now they are sent as well.
                            metadata.output_upload_completed_timestamp = now();
                            metadata.worker_completed_timestamp = now();
                        }
                        done::Outcome::Result(result.encode_to_vec())
                    }
                    Err(error) => failure(&RunError::Access(error)),
                },
                Err(error) => failure(&error),
            };
            (number, outcome)
        });
    }

    async fn tell_done(
        &mut self,
        ended: Result<(u64, done::Outcome), tokio::task::JoinError>,
    ) -> Result<(), Status> {
        // After a panic, the action goes elsewhere, with all others.
        let (run, outcome) = ended.map_err(|error| Status::internal(error.to_string()))?;
        self.cancels.remove(&run);
        let outcome = Some(outcome);
        self.say(Event::Done(Done { run, outcome })).await
    }

    /// Announces the blobs that have come and gone.
    async fn tell(&mut self, changes: impl Iterator<Item = Change>) -> Result<(), Status> {
        let News { dropped, gained } = self.announced.take(changes);
        for blobs in dropped.chunks(MOST_IN_MESSAGE) {
            self.say(Event::Dropped(message(blobs))).await?;
        }
        for blobs in gained.chunks(MOST_IN_MESSAGE) {
            self.say(Event::Gained(message(blobs))).await?;
        }
        Ok(())
    }

    async fn say(&self, event: Event) -> Result<(), Status> {
        let event = Some(event);
        let sent = timeout(PATIENCE, self.events.send(FromWorker { event })).await;
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Status::unavailable("the coordinator has gone")),
            Err(_) => Err(silent()),
        }
    }
}

fn message(blobs: &[Digest]) -> Blobs {
    Blobs {
        blobs: blobs.iter().map(|&blob| blob.into()).collect(),
    }
}

fn failure(error: &RunError) -> done::Outcome {
    let missing = match error {
        RunError::Access(StorageError::Missing(blob)) => vec![(*blob).into()],
        _ => Vec::new(),
    };
    done::Outcome::Failure(Failure {
        code: error.code() as i32,
        message: error.to_string(),
        elsewhere: error.elsewhere(),
        missing,
    })
}

fn silent() -> Status {
    Status::unavailable(format!("the coordinator has been silent for {PATIENCE:?}"))
}
