//! One worker's session: it sends the worker actions while there is room, and takes the results.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use filch_build_scheduler::{Picking, WorkerId};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout_at};
use tonic::{Status, Streaming};

use super::coordinator::Shared;
use super::failure::contained;
use super::run::{Outcome, Work};
use super::snapshot::{Running, Worker};
use super::workers::{check_hello, digests, failure_of};
use crate::digest::Digest;
use crate::protocol::from_worker::Event;
use crate::protocol::to_worker::Order;
use crate::protocol::{
    Cancel, Done, FromWorker, Hello, Leave, Run, Source, ToWorker, Welcome, done,
};
use crate::reapi::ActionResult;
use crate::storage::StoredResult;

/// The most blobs that a worker may announce.
pub(super) const MOST_HELD: usize = 1 << 18;

type Picks = FuturesUnordered<Picking<Digest, Work, Outcome>>;
pub(super) type Orders = mpsc::Sender<Result<ToWorker, Status>>;

pub(super) struct Session {
    shared: Arc<Shared>,
    id: WorkerId,
    name: String,
    slots: usize,
    orders: Orders,
    running: HashMap<u64, Work>,
    /// The number of the last run.
    last: u64,
    held: HashSet<Digest>,
    /// The numbers of runs that nobody waits for any more.
    cancels: mpsc::UnboundedSender<u64>,
    /// The worker gets no actions before this time.
    paused_until: Option<Instant>,
    leaving: bool,
}

/// Serves the worker's stream until it ends.
pub(super) async fn serve(
    shared: Arc<Shared>,
    mut inbound: Streaming<FromWorker>,
    orders: Orders,
) -> Result<(), Status> {
    let mut begun = None;
    let life = contained(async {
        let deadline = Instant::now() + shared.config.silence;
        let mut hello = match next(&mut inbound, deadline).await? {
            Some(Event::Hello(hello)) => hello,
            Some(_) => return Err(Status::invalid_argument("the first message is not Hello")),
            None => return Ok(()),
        };
        check_hello(&hello)?;
        let held = digests(hello.holds.take().unwrap_or_default())?;
        let (cancels, cancelled) = mpsc::unbounded_channel();
        let session = begun.insert(Session::begin(shared, hello, orders, cancels).await?);
        session.welcome(held)?;
        session.live(&mut inbound, cancelled).await
    });
    let ended = life.await;
    let ended = ended.unwrap_or_else(|defect| Err(Status::internal(defect)));
    if let Some(mut session) = begun {
        session.end(&ended).await;
    }
    ended
}

/// Returns the next message of the worker, or `None` if it has left.
async fn next(
    inbound: &mut Streaming<FromWorker>,
    deadline: Instant,
) -> Result<Option<Event>, Status> {
    let Ok(message) = timeout_at(deadline, inbound.message()).await else {
        let silent = "the worker has been silent for too long, and is taken for dead";
        return Err(Status::deadline_exceeded(silent));
    };
    match message? {
        Some(FromWorker { event: Some(event) }) => Ok(Some(event)),
        Some(FromWorker { event: None }) => Err(Status::invalid_argument("an empty message")),
        None => Ok(None),
    }
}

impl Session {
    async fn begin(
        shared: Arc<Shared>,
        hello: Hello,
        orders: Orders,
        cancels: mpsc::UnboundedSender<u64>,
    ) -> Result<Self, Status> {
        let slots = hello.slots as usize;
        let id = shared.scheduler.register_worker().await.map_err(stopped)?;
        let name = hello.name;
        tracing::info!("the worker {name} has come, for {slots} actions at a time");
        let worker = Worker {
            name: name.clone(),
            address: hello.address,
            since: SystemTime::now(),
            slots,
            running: Vec::new(),
            blobs: 0,
            leaving: false,
        };
        shared.roster.add(id, worker);
        Ok(Self {
            shared,
            id,
            name,
            slots,
            orders,
            running: HashMap::new(),
            last: 0,
            held: HashSet::new(),
            cancels,
            paused_until: None,
            leaving: false,
        })
    }

    fn welcome(&mut self, held: Vec<Digest>) -> Result<(), Status> {
        self.gain(held)?;
        let silence = self.shared.config.silence.as_millis();
        self.order(Order::Welcome(Welcome {
            silence_ms: u64::try_from(silence).unwrap_or(u64::MAX),
            most_held: MOST_HELD as u64,
            key: self.shared.key.clone(),
        }))
    }

    async fn live(
        &mut self,
        inbound: &mut Streaming<FromWorker>,
        mut cancelled: mpsc::UnboundedReceiver<u64>,
    ) -> Result<(), Status> {
        let shared = Arc::clone(&self.shared);
        let mut picks = Picks::new();
        let mut deadline = Instant::now() + self.shared.config.silence;
        loop {
            if self.leaving && self.running.is_empty() {
                return Ok(());
            }
            self.ask(&mut picks);
            tokio::select! {
                event = next(inbound, deadline) => {
                    let Some(event) = event? else {
                        return Err(Status::unavailable("the worker has gone"));
                    };
                    deadline = Instant::now() + self.shared.config.silence;
                    self.take(event, &mut picks).await?;
                }
                Some(picked) = picks.next() => match picked {
                    Ok(job) => self.run(job.content.clone()).await?,
                    Err(error) => return Err(Status::unavailable(error.to_string())),
                },
                Some(run) = cancelled.recv() => {
                    if self.running.contains_key(&run) {
                        self.order(Order::Cancel(Cancel { run }))?;
                    }
                }
                () = rest(self.paused_until) => self.paused_until = None,
                () = shared.leaving.cancelled(), if !self.leaving => {
                    self.order(Order::Leave(Leave {}))?;
                    self.leave(&mut picks);
                }
            }
        }
    }

    /// Asks for as many actions as the worker has room for.
    fn ask(&self, picks: &mut Picks) {
        if self.leaving || self.paused_until.is_some() {
            return;
        }
        while self.running.len() + picks.len() < self.slots {
            picks.push(self.shared.scheduler.pick_job(self.id));
        }
    }

    async fn take(&mut self, event: Event, picks: &mut Picks) -> Result<(), Status> {
        match event {
            Event::Hello(_) => Err(Status::invalid_argument("a second Hello")),
            Event::Done(done) => self.done(done, picks).await,
            Event::Gained(blobs) => self.gain(digests(blobs)?),
            Event::Dropped(blobs) => {
                self.lose(digests(blobs)?);
                Ok(())
            }
            Event::Leaving(_) => {
                self.leave(picks);
                Ok(())
            }
            Event::Alive(_) => Ok(()),
        }
    }

    fn leave(&mut self, picks: &mut Picks) {
        self.leaving = true;
        self.update(|worker| worker.leaving = true);
        // Actions that these have picked, but nobody has taken, go back.
        picks.clear();
    }

    fn gain(&mut self, blobs: Vec<Digest>) -> Result<(), Status> {
        for blob in blobs {
            if !self.held.insert(blob) {
                continue;
            }
            if self.held.len() > MOST_HELD {
                let most = format!("the worker says that it has more than {MOST_HELD} blobs");
                return Err(Status::resource_exhausted(most));
            }
            drop(self.shared.scheduler.add_artifact(self.id, blob));
        }
        self.update(|worker| worker.blobs = self.held.len());
        Ok(())
    }

    fn lose(&mut self, blobs: Vec<Digest>) {
        for blob in blobs {
            if self.held.remove(&blob) {
                drop(self.shared.scheduler.remove_artifact(self.id, blob));
            }
        }
        self.update(|worker| worker.blobs = self.held.len());
    }

    /// Changes what clients see of this worker.
    fn update(&self, change: impl FnOnce(&mut Worker)) {
        self.shared.roster.update(self.id, change);
    }

    /// Gives the action to the worker.
    async fn run(&mut self, work: Work) -> Result<(), Status> {
        self.last += 1;
        let number = self.last;
        if !work.run.begin(&self.cancels, number) {
            return Ok(());
        }
        let messages = work.prepared.messages.iter();
        let run = Run {
            run: number,
            action: Some(work.run.action.into()),
            messages: messages.map(|message| message.to_vec()).collect(),
            sources: self.sources(&work.prepared.files).await?,
        };
        let running = Running {
            run: number,
            action: work.run.action,
            command: work.prepared.title.clone(),
            since: SystemTime::now(),
        };
        self.update(|worker| worker.running.push(running));
        self.running.insert(number, work);
        self.order(Order::Run(run))
    }

    /// Finds other workers that have those of these blobs that this worker lacks.
    async fn sources(&self, files: &[Digest]) -> Result<Vec<Source>, Status> {
        let mut sources = Vec::new();
        if self.shared.roster.len() < 2 {
            return Ok(sources);
        }
        for &file in files.iter().filter(|file| !self.held.contains(file)) {
            let holder = self.shared.scheduler.locate_artifact(file).await;
            let address = |holder| self.shared.roster.address(holder);
            if let Some(address) = holder.map_err(stopped)?.and_then(address) {
                sources.push(Source {
                    blob: Some(file.into()),
                    address,
                });
            }
        }
        Ok(sources)
    }

    async fn done(&mut self, done: Done, picks: &mut Picks) -> Result<(), Status> {
        let number = done.run;
        // The run stays in the map until the message is known to be good.
        let Some(work) = self.running.get(&number).cloned() else {
            let not = format!("Done for run {number}, which is not one that this worker runs");
            return Err(Status::invalid_argument(not));
        };
        let (scheduler, id, job) = (&self.shared.scheduler, self.id, work.run.job);
        match done.outcome {
            Some(done::Outcome::Result(bytes)) => match self.check(number, bytes).await? {
                Some(mut result) => {
                    if let Some(metadata) = &mut result.execution_metadata {
                        metadata.queued_timestamp = work.run.queued;
                    }
                    work.run.end(|| {
                        drop(scheduler.on_job_complete(id, job, Ok(Arc::new(result))));
                        // The artifact is the job: the worker announces its blobs itself.
                        drop(scheduler.remove_artifact(id, job));
                    });
                }
                // The storage may have lost them just now; a liar has as many attempts as others.
                None => {
                    let absent = "its result names blobs that are not in the storage";
                    self.elsewhere(&work, absent, picks);
                }
            },
            Some(done::Outcome::Failure(failure)) if failure.elsewhere => {
                self.elsewhere(&work, &failure.message, picks);
            }
            Some(done::Outcome::Failure(failure)) => {
                let failure = failure_of(failure)?;
                work.run
                    .end(|| drop(scheduler.on_job_failed(id, job, Err(failure))));
            }
            None => return Err(Status::invalid_argument("Done without an outcome")),
        }
        self.running.remove(&number);
        self.update(|worker| worker.running.retain(|running| running.run != number));
        Ok(())
    }

    /// Gives the action up to another worker, and pauses this one.
    fn elsewhere(&mut self, work: &Work, message: &str, picks: &mut Picks) {
        picks.clear();
        self.paused_until = Some(Instant::now() + self.shared.config.pause);
        let why = format!("{}: {message}", self.name);
        tracing::warn!("the worker {why}");
        if give_up(&self.shared, self.id, work, why) {
            drop(self.shared.scheduler.give_back(self.id, work.run.job));
        }
    }

    /// Decodes the result; returns it if all its blobs are there.
    async fn check(&self, number: u64, bytes: Vec<u8>) -> Result<Option<ActionResult>, Status> {
        let invalid =
            |what: String| Status::invalid_argument(format!("Done for run {number}: {what}"));
        let result = StoredResult::new(bytes.into());
        let result = result.map_err(|error| invalid(error.to_string()))?;
        let complete = self.shared.storage.results.is_complete(&result).await?;
        Ok(complete.then(|| result.into_message()))
    }

    /// Sends an order. There is room for two per run, so that a worker that reads never lacks it.
    fn order(&self, order: Order) -> Result<(), Status> {
        let order = Ok(ToWorker { order: Some(order) });
        let deaf = |_| Status::unavailable("the worker does not read what it is told");
        self.orders.try_send(order).map_err(deaf)
    }

    /// Gives all runs of a lost worker back, for others to run.
    async fn end(&mut self, ended: &Result<(), Status>) {
        let name = &self.name;
        match ended {
            Ok(()) => tracing::info!("the worker {name} has left"),
            Err(status) => tracing::warn!("the worker {name} is lost: {}", status.message()),
        }
        self.shared.roster.remove(self.id);
        for work in self.running.values() {
            let why = match ended {
                Ok(()) => format!("{name} has left"),
                Err(status) => format!("{name} was lost: {}", status.message()),
            };
            // If there is another attempt, the scheduler gives the job back below.
            give_up(&self.shared, self.id, work, why);
        }
        let removed = self.shared.scheduler.remove_worker(self.id).await;
        if removed.is_err() {
            tracing::debug!("the scheduler was stopped before the worker {name} left");
        }
        self.running.clear();
        self.shared.stop_if_left();
    }
}

/// Records that the worker will not finish the action; returns true if another one may.
fn give_up(shared: &Shared, worker: WorkerId, work: &Work, why: String) -> bool {
    let job = work.run.job;
    work.run.failed(why, &shared.builds, |failure| {
        drop(shared.scheduler.on_job_failed(worker, job, Err(failure)));
    })
}

fn stopped(error: impl std::fmt::Display) -> Status {
    Status::unavailable(error.to_string())
}

async fn rest(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until).await,
        None => std::future::pending().await,
    }
}
