//! One worker's session: it sends the worker actions while there is room, and takes the results.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use filch_build_scheduler::{Job, PickError, Picking, WorkerId};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tonic::{Status, Streaming};

use super::coordinator::Shared;
use super::failure::contained;
use super::pools::Pool;
use super::run::{Outcome, Work};
use super::snapshot::{Running, Worker};
use super::workers::{check_hello, digests, platform_of};
use crate::digest::Digest;
use crate::protocol::from_worker::Event;
use crate::protocol::to_worker::Order;
use crate::protocol::{Cancel, FromWorker, Hello, Leave, Run, Source, ToWorker, Welcome};

/// The most blobs that a worker may announce.
pub(super) const MOST_HELD: usize = 1 << 18;

pub(super) type Orders = mpsc::Sender<Result<ToWorker, Status>>;

pub(super) struct Session {
    pub(super) shared: Arc<Shared>,
    pub(super) pool: Arc<Pool>,
    pub(super) id: WorkerId,
    pub(super) name: String,
    slots: usize,
    orders: Orders,
    pub(super) running: HashMap<u64, Work>,
    pick: Option<Picking<Digest, Work, Outcome>>,
    /// A picked action that waits for room. Nothing else is picked meanwhile: a large one would
    /// wait for ever.
    next: Option<Work>,
    /// The number of the last run.
    last: u64,
    held: HashSet<Digest>,
    /// The numbers of runs that nobody waits for any more.
    cancels: mpsc::UnboundedSender<u64>,
    /// The worker gets no actions before this time.
    pub(super) paused_until: Option<Instant>,
    leaving: bool,
    /// True if its slots count in the queue: it takes actions.
    counts: bool,
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
        check_hello(&hello, &shared.instance)?;
        let held = digests(hello.holds.take().unwrap_or_default())?;
        let (cancels, cancelled) = mpsc::unbounded_channel();
        let session = begun.insert(Session::begin(shared, hello, orders, cancels).await?);
        session.welcome(held)?;
        session.live(&mut inbound, cancelled).await
    });
    let ended = (life.await).unwrap_or_else(|defect| Err(Status::internal(defect)));
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
        mut hello: Hello,
        orders: Orders,
        cancels: mpsc::UnboundedSender<u64>,
    ) -> Result<Self, Status> {
        let slots = hello.slots as usize;
        let pool = shared.queue.join(platform_of(&mut hello), slots);
        let registered = pool.scheduler.register_worker().await;
        let id = registered.map_err(|error| {
            shared.queue.count(&pool, slots, false);
            leave(&shared, &pool);
            stopped(error)
        })?;
        let name = hello.name;
        let platform = Arc::clone(&pool.platform);
        tracing::info!("the worker {name} has come, for {slots} actions at a time: {platform}");
        let worker = Worker {
            name: name.clone(),
            address: hello.address,
            since: SystemTime::now(),
            slots,
            platform,
            running: Vec::new(),
            blobs: 0,
            leaving: false,
        };
        pool.roster.add(id, worker);
        Ok(Self {
            shared,
            pool,
            id,
            name,
            slots,
            orders,
            running: HashMap::new(),
            pick: None,
            next: None,
            last: 0,
            held: HashSet::new(),
            cancels,
            paused_until: None,
            leaving: false,
            counts: true,
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
        let mut deadline = Instant::now() + self.shared.config.silence;
        loop {
            if self.leaving && self.running.is_empty() {
                return Ok(());
            }
            if let Some(next) = self.next.take() {
                match self.has_room(next.prepared.needs.cpus, next.prepared.needs.memory) {
                    true => self.run(next).await?,
                    false => self.next = Some(next),
                }
            }
            self.count(!self.leaving && self.paused_until.is_none());
            self.ask();
            tokio::select! {
                event = next(inbound, deadline) => {
                    let Some(event) = event? else {
                        return Err(Status::unavailable("the worker has gone"));
                    };
                    deadline = Instant::now() + self.shared.config.silence;
                    self.take(event).await?;
                }
                picked = picked(&mut self.pick) => {
                    self.pick = None;
                    self.next = Some(picked.map_err(stopped)?.content.clone());
                }
                Some(run) = cancelled.recv() => {
                    if self.running.contains_key(&run) {
                        self.order(Order::Cancel(Cancel { run }))?;
                    }
                }
                () = rest(self.paused_until) => self.paused_until = None,
                () = shared.leaving.cancelled(), if !self.leaving => {
                    self.order(Order::Leave(Leave {}))?;
                    self.leave();
                }
            }
        }
    }

    /// Tells the queue if the worker takes actions.
    fn count(&mut self, counts: bool) {
        if counts != self.counts {
            self.counts = counts;
            self.shared.queue.count(&self.pool, self.slots, counts);
        }
    }

    /// Returns true if the worker has so many CPUs and so much memory left.
    fn has_room(&self, mut cpus: u64, mut memory: u64) -> bool {
        for work in self.running.values() {
            cpus = cpus.saturating_add(work.prepared.needs.cpus);
            memory = memory.saturating_add(work.prepared.needs.memory);
        }
        cpus <= self.pool.platform.cpus && memory <= self.pool.platform.memory
    }

    /// Asks for an action if the worker has room.
    fn ask(&mut self) {
        let room = self.running.len() < self.slots && self.has_room(1, 0);
        if self.counts && room && self.next.is_none() && self.pick.is_none() {
            self.pick = Some(self.pool.scheduler.pick_job(self.id));
        }
    }

    async fn take(&mut self, event: Event) -> Result<(), Status> {
        match event {
            Event::Hello(_) => Err(Status::invalid_argument("a second Hello")),
            Event::Done(done) => self.done(done).await,
            Event::Gained(blobs) => self.gain(digests(blobs)?),
            Event::Dropped(blobs) => {
                self.lose(digests(blobs)?);
                Ok(())
            }
            Event::Leaving(_) => {
                self.leave();
                Ok(())
            }
            Event::Alive(_) => Ok(()),
        }
    }

    fn leave(&mut self) {
        self.leaving = true;
        self.update(|worker| worker.leaving = true);
        self.release();
    }

    /// Sends what was picked, and has not begun, back to the queue.
    pub(super) fn release(&mut self) {
        self.pick = None;
        if let Some(work) = self.next.take() {
            drop(self.pool.scheduler.withdraw_job(work.job));
        }
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
            drop(self.pool.scheduler.add_artifact(self.id, blob));
        }
        self.update(|worker| worker.blobs = self.held.len());
        Ok(())
    }

    fn lose(&mut self, blobs: Vec<Digest>) {
        for blob in blobs {
            if self.held.remove(&blob) {
                drop(self.pool.scheduler.remove_artifact(self.id, blob));
            }
        }
        self.update(|worker| worker.blobs = self.held.len());
    }

    /// Changes what clients see of this worker.
    pub(super) fn update(&self, change: impl FnOnce(&mut Worker)) {
        self.pool.roster.update(self.id, change);
    }

    /// Gives the action to the worker.
    async fn run(&mut self, work: Work) -> Result<(), Status> {
        self.last += 1;
        let number = self.last;
        let running = Running {
            run: number,
            action: work.run.action,
            command: work.prepared.title.clone(),
            since: SystemTime::now(),
        };
        let begins = (work.run).begin(work.job, &self.cancels, &self.name, &running);
        if !begins {
            return Ok(());
        }
        let messages = work.prepared.messages.iter();
        let run = Run {
            run: number,
            action: Some(work.run.action.into()),
            messages: messages.map(|message| message.to_vec()).collect(),
            sources: self.sources(&work.prepared.files).await,
        };
        self.update(|worker| worker.running.push(running));
        self.running.insert(number, work);
        self.order(Order::Run(run))
    }

    /// Finds other workers that have those of these blobs that this worker lacks.
    async fn sources(&self, files: &[Digest]) -> Vec<Source> {
        let mut sources = Vec::new();
        let pools = self.shared.queue.pools();
        for &file in files.iter().filter(|file| !self.held.contains(file)) {
            for pool in &pools {
                // A pool that was just stopped has none.
                let holder = pool.scheduler.locate_artifact(file).await.ok().flatten();
                if let Some(address) = holder.and_then(|holder| pool.roster.address(holder)) {
                    sources.push(Source {
                        blob: Some(file.into()),
                        address,
                    });
                    break;
                }
            }
        }
        sources
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
            Err(status) => {
                tracing::warn!("the worker {name} is lost: {}", status.message());
                self.shared.builds.lost(name, status.message());
            }
        }
        self.pool.roster.remove(self.id);
        for work in self.running.values() {
            let why = match ended {
                Ok(()) => format!("{name} has left"),
                Err(status) => format!("{name} was lost: {}", status.message()),
            };
            // If there is another attempt, the scheduler gives the job back below.
            self.give_up(work, why);
        }
        let removed = self.pool.scheduler.remove_worker(self.id).await;
        if removed.is_err() {
            tracing::debug!("the scheduler was stopped before the worker {name} left");
        }
        self.running.clear();
        self.count(false);
        leave(&self.shared, &self.pool);
    }
}

/// Takes a worker out of its pool.
fn leave(shared: &Arc<Shared>, pool: &Arc<Pool>) {
    if let Some(number) = shared.queue.leave(pool) {
        let (farm, pool) = (Arc::downgrade(shared), Arc::clone(pool));
        let remembered = shared.config.remembered;
        tokio::spawn(async move {
            sleep(remembered).await;
            if let Some(farm) = farm.upgrade() {
                farm.queue.forget(&pool.platform, number);
            }
        });
    }
    shared.stop_if_left();
}

/// Returns the action that the pick gets; waits for ever without a pick.
async fn picked(
    pick: &mut Option<Picking<Digest, Work, Outcome>>,
) -> Result<Arc<Job<Digest, Work>>, PickError> {
    match pick {
        Some(pick) => pick.await,
        None => std::future::pending().await,
    }
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
