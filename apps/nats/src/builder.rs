//! Makes a transport.

use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use std::{fmt, io, thread};

use async_nats::{
    Client, ConnectOptions, Request, RequestErrorKind, ServerAddr, SubscribeError, ToServerAddrs,
};
use filch_actors::Inbox;
use filch_actors::prelude::*;
use filch_scheduler::{Event, Handle, Protocol};
use filch_sync::Mutex;
use filch_sync::panic::drop_contained;
use thiserror::Error;
use tokio::runtime;
use tokio::sync::Notify;

use crate::codec::{AnyCodec, Codec};
use crate::lost::Life;
use crate::nats::{self, Mail, Nats};
use crate::peers::{Limits, Peers, State};
use crate::report::{Incident, Listener, Report};

/// Configures and starts a [`Nats`]; from [`Nats::builder`].
#[must_use = "nothing is started before `start` is called"]
pub struct Builder<P: Protocol> {
    codec: Arc<dyn AnyCodec<P::Message>>,
    options: ConnectOptions,
    prefix: String,
    limits: Limits,
    listener: Option<Listener>,
}

impl<P: Protocol> Nats<P> {
    /// Begins to configure a transport whose messages `codec` turns into bytes.
    pub fn builder(codec: impl Codec<P::Message>) -> Builder<P> {
        Builder {
            codec: Arc::new(codec),
            options: ConnectOptions::new(),
            prefix: "filch".to_owned(),
            limits: Limits {
                room: 8 << 20,
                heartbeat: Duration::from_secs(1),
                patience: Duration::from_secs(10),
                grace: Duration::from_secs(5),
            },
            listener: None,
        }
    }
}

impl<P: Protocol> Builder<P> {
    /// Sets the options of the connection to NATS: credentials, TLS, names, reconnecting, and all
    /// else that `async-nats` has. Default: its own.
    pub fn options(mut self, options: ConnectOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the beginning of all subjects: nodes with different prefixes do not meet. Default:
    /// `filch`. Node 7 listens to `filch.node.7` and `filch.nobody.7.*`, and publishes to
    /// `filch.node.*`.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets the most bytes of messages, each with its frame of 21 bytes, that may wait for one
    /// node. Further messages are handed back with
    /// [`Undelivered::Backlog`](filch_scheduler::Undelivered::Backlog). Default: 8 MiB.
    pub fn room(mut self, bytes: usize) -> Self {
        self.limits.room = bytes;
        self
    }

    /// Sets the time between heartbeats to each connected node. Default: 1 s.
    pub fn heartbeat(mut self, interval: Duration) -> Self {
        self.limits.heartbeat = interval;
        self
    }

    /// Sets for how long another node may be silent before it is lost. A failure of NATS counts as
    /// silence, so nobody is left in doubt for longer. It must be longer than the other node's time
    /// between heartbeats. Default: 10 s.
    pub fn patience(mut self, silence: Duration) -> Self {
        self.limits.patience = silence;
        self
    }

    /// Sets for how long another node may be silent before it is lost because NATS says that nobody
    /// listens there. After a failure of NATS nodes come back one by one: by default `async-nats`
    /// waits up to 4 s between tries, so this should not be shorter. Default: 5 s.
    pub fn grace(mut self, silence: Duration) -> Self {
        self.limits.grace = silence;
        self
    }

    /// Has `listener` called for each incident, mostly on the transport's thread, which waits for
    /// it. A panic in it is contained. Default: no listener.
    pub fn on_incident(mut self, listener: impl Fn(&Incident<'_>) + Send + Sync + 'static) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }

    /// Connects to NATS, and starts the transport of `scheduler` on a new thread, `filch-nats`.
    /// Blocks until other nodes can reach this one; with
    /// [`retry_on_initial_connect`](ConnectOptions::retry_on_initial_connect), until there is a
    /// server.
    ///
    /// Other nodes know this one by the scheduler's [node](filch_scheduler::Builder::node). The
    /// scheduler gets one more process, which is told of the ends of processes that are watched
    /// from elsewhere.
    ///
    /// # Errors
    /// If it returns a [`StartError`], nothing is left running.
    pub fn start(
        self,
        scheduler: &Handle<P>,
        servers: impl ToServerAddrs,
    ) -> Result<Nats<P>, StartError> {
        if self.limits.heartbeat.is_zero() {
            return Err(StartError::ZeroHeartbeat);
        }
        let is_subject = |part: &str| {
            let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && c != '*' && c != '>';
            !part.is_empty() && part.chars().all(is_plain)
        };
        if !self.prefix.split('.').all(is_subject) {
            return Err(StartError::Prefix(self.prefix));
        }
        let servers = servers.to_server_addrs().map_err(StartError::Servers)?;
        let servers: Vec<_> = servers.collect();
        let scheduler = scheduler.clone();
        let (started, answer) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("filch-nats".to_owned())
            .spawn(move || self.run(scheduler, servers, &started))
            .map_err(StartError::Thread)?;
        match answer.recv() {
            Ok(Ok(peers)) => Ok(Nats::new(peers, thread)),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(StartError::Thread(io::ErrorKind::BrokenPipe.into())),
        }
    }

    /// Runs the transport's thread.
    fn run(
        self,
        scheduler: Handle<P>,
        servers: Vec<ServerAddr>,
        started: &Sender<Result<Arc<Peers<P>>, StartError>>,
    ) {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(error) => return drop(started.send(Err(StartError::Thread(error)))),
        };
        runtime.block_on(async {
            match self.begin(scheduler, servers).await {
                Ok((peers, mail)) => {
                    let _ = started.send(Ok(Arc::clone(&peers)));
                    nats::serve(peers, mail).await;
                }
                Err(error) => drop(started.send(Err(error))),
            }
        });
        // Nobody waits for what the client has begun, a look-up of a name for instance.
        runtime.shutdown_background();
    }

    async fn begin(
        self,
        scheduler: Handle<P>,
        servers: Vec<ServerAddr>,
    ) -> Result<(Arc<Peers<P>>, Mail), StartError> {
        let client = self.options.connect(servers).await;
        let client = client.map_err(StartError::Connect)?;
        let peers = Arc::new(Peers {
            scheduler,
            codec: self.codec,
            client: client.clone(),
            runtime: runtime::Handle::current(),
            report: Arc::new(Report::new(self.listener)),
            prefix: self.prefix.into(),
            life: Life::begin(),
            limits: self.limits,
            watcher: OnceLock::new(),
            state: Mutex::new(State::new()),
            late: Mutex::new(Vec::new()),
            leave: Notify::new(),
        });
        let subscribe = async |subject| {
            let subscribed = client.subscribe(subject).await;
            subscribed.map_err(StartError::Subscribe)
        };
        let mail = Mail {
            packets: subscribe(peers.mail(peers.node())).await?,
            nobody: subscribe(peers.nobody("*")).await?,
        };
        is_subscribed(&client, format!("{}.nobody", peers.prefix)).await?;
        let guard = WhenDropped(Arc::clone(&peers));
        let watcher = peers.scheduler.spawn_with(|inbox| watch(guard, inbox));
        let watcher = watcher.map_err(|error| StartError::Scheduler(error.to_string()))?;
        // It is set once.
        let _ = peers.watcher.set(watcher.pid());
        Ok((peers, mail))
    }
}

/// Runs the watcher: the process that is told of the ends of others, until the scheduler ends.
async fn watch<P: Protocol>(peers: WhenDropped<P>, mut inbox: Inbox<P>) {
    loop {
        match inbox.next().await {
            Event::Down(down) => peers.0.down(*down),
            Event::Cancel(_) => break,
            // For instance, a message that somebody has sent it.
            other => drop_contained(other),
        }
    }
}

/// Ends the transport when the watcher is dropped, which its scheduler does.
struct WhenDropped<P: Protocol>(Arc<Peers<P>>);

impl<P: Protocol> Drop for WhenDropped<P> {
    fn drop(&mut self) {
        self.0.leave.notify_one();
    }
}

/// Waits until the server knows the subscriptions: it answers what comes after them. Nobody listens
/// to that subject, and the answer says so.
async fn is_subscribed(client: &Client, subject: String) -> Result<(), StartError> {
    loop {
        let question = client.send_request(subject.clone(), Request::new());
        match question.await {
            Ok(_) => return Ok(()),
            Err(error) => match error.kind() {
                RequestErrorKind::NoResponders => return Ok(()),
                // There is no server yet, or it is gone again.
                RequestErrorKind::TimedOut => {}
                _ => return Err(StartError::Server(error)),
            },
        }
    }
}

impl<P: Protocol> fmt::Debug for Builder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("prefix", &self.prefix)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// The reason that a transport could not be started.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// The time between heartbeats is zero.
    #[error("heartbeats must be some time apart")]
    ZeroHeartbeat,
    /// A subject of NATS cannot begin like this.
    #[error("{0:?} is no beginning of a subject: give words with dots between")]
    Prefix(String),
    /// These are not addresses of servers.
    #[error("the addresses of the servers: {0}")]
    Servers(#[source] io::Error),
    /// The system refuses the thread, or its resources.
    #[error("the transport's thread: {0}")]
    Thread(#[source] io::Error),
    /// The server cannot be reached, or refuses the credentials.
    #[error("the server of NATS cannot be reached: {0}")]
    Connect(#[source] async_nats::ConnectError),
    /// The connection was closed.
    #[error("the server of NATS: {0}")]
    Subscribe(#[source] SubscribeError),
    /// The connection was closed, or the server is too old.
    #[error("the server of NATS: {0}")]
    Server(#[source] async_nats::RequestError),
    /// The scheduler takes no more processes: it is shut down, or full.
    #[error("the scheduler: {0}")]
    Scheduler(String),
}
