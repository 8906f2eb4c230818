//! The messages and nodes of these tests.

use std::any::type_name;
use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use filch_nats::{Builder, Codec, ConnectError, Ended, Incident, Life, Nats, NodeLost};
use filch_scheduler::{
    Context, Event, Events, InitError, Node, Pid, Process, Protocol, Scheduler, SendError,
    StepOutput, Undelivered,
};

use super::server::Server;

pub(crate) enum Test {}

impl Protocol for Test {
    type Input = ();
    type Message = Note;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

/// A message between processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    Number(u64),
    /// Has the receiver send the number to that process.
    Echo(u64, Pid),
    Text(String),
    /// Has the receiver end, well or not.
    Done,
    Fail,
    /// Reports the end of a watched process, by the number that the test gave it.
    Ended(u64, Ended),
    /// Messages that cannot be encoded, that cannot be decoded, and that panic when decoded.
    Unencodable,
    Undecodable,
    Panicking,
}

/// The error of a process that was told to fail.
pub(crate) const WHY: &str = "it was told to fail, and does as it is told";

/// The codec of all but [`Note::Ended`], which never travels.
pub(crate) struct Notes;

impl Codec<Note> for Notes {
    type Error = io::Error;

    fn encode(&self, note: &Note, bytes: &mut Vec<u8>) -> io::Result<()> {
        match note {
            Note::Number(number) => {
                bytes.push(0);
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            Note::Echo(number, to) => {
                bytes.push(1);
                bytes.extend_from_slice(&number.to_le_bytes());
                bytes.extend_from_slice(&to.to_bits().to_le_bytes());
            }
            Note::Text(text) => {
                bytes.push(2);
                bytes.extend_from_slice(text.as_bytes());
            }
            Note::Done => bytes.push(3),
            Note::Fail => bytes.push(4),
            Note::Undecodable => bytes.push(5),
            Note::Panicking => bytes.push(6),
            Note::Ended(..) | Note::Unencodable => {
                return Err(io::Error::other("that does not travel"));
            }
        }
        Ok(())
    }

    fn decode(&self, bytes: &[u8]) -> io::Result<Note> {
        let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes);
        match bytes {
            [0, rest @ ..] => number(rest).map(Note::Number).map_err(io::Error::other),
            [1, rest @ ..] if rest.len() == 24 => {
                let to = rest[8..].try_into().map(u128::from_le_bytes);
                let to = to.map_err(io::Error::other)?;
                let number = number(&rest[..8]).map_err(io::Error::other)?;
                Ok(Note::Echo(number, Pid::from_bits(to)))
            }
            [2, text @ ..] => str::from_utf8(text)
                .map(|text| Note::Text(text.to_owned()))
                .map_err(io::Error::other),
            [3] => Ok(Note::Done),
            [4] => Ok(Note::Fail),
            [6] => panic!("the codec panics"),
            _ => Err(io::Error::other("that is no note")),
        }
    }
}

/// Passes the messages that it gets on to the test.
struct Forward(Sender<Note>);

impl Process<Test> for Forward {
    fn init(&mut self, _: &Context<'_, Test>, _: &str, (): ()) -> Result<(), InitError<Test>> {
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, Test>,
        events: Events<'_, Test>,
        out: &mut StepOutput<Test>,
    ) -> Result<(), String> {
        for event in events {
            match event {
                Event::Message(Note::Done) | Event::Cancel(_) => out.done(()),
                Event::Message(Note::Fail) => return Err(WHY.to_owned()),
                Event::Message(Note::Echo(number, to)) => {
                    // A process that cannot be reached any more does not miss it.
                    let _ = context.send(to, Note::Number(number));
                }
                Event::Message(note) => {
                    // The test may have ended already.
                    let _ = self.0.send(note);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The incidents of a transport, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    Connected(Node, Life),
    Lost(Node, NodeLost),
    Reconnected,
    Other,
}

/// A node: a scheduler, and its transport. The transport is dropped first.
pub(crate) struct TestNode {
    pub(crate) nats: Nats<Test>,
    pub(crate) scheduler: Scheduler<Test>,
    pub(crate) news: Receiver<News>,
    /// The server, if nobody else has it.
    server: Option<Server>,
}

/// The time limit of a wait: after it, the test fails.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

pub(crate) const FOREVER: Duration = Duration::from_secs(3600);
pub(crate) const OFTEN: Duration = Duration::from_millis(20);

impl TestNode {
    /// Starts a node that does not lose others for their silence.
    pub(crate) fn new(node: u32, server: &Server) -> Self {
        Self::with(node, server, |builder| builder)
    }

    pub(crate) fn with(
        node: u32,
        server: &Server,
        set: impl FnOnce(Builder<Test>) -> Builder<Test>,
    ) -> Self {
        Self::at(node, &server.address(), set)
    }

    pub(crate) fn at(
        node: u32,
        server: &str,
        set: impl FnOnce(Builder<Test>) -> Builder<Test>,
    ) -> Self {
        let scheduler = scheduler(node);
        let (teller, news) = mpsc::channel();
        let builder = Nats::builder(Notes)
            .heartbeat(OFTEN)
            .patience(FOREVER)
            .grace(FOREVER)
            .on_incident(move |incident| {
                let _ = teller.send(match incident {
                    Incident::Connected { node, life } => News::Connected(*node, *life),
                    Incident::Lost { node, why, .. } => News::Lost(*node, *why),
                    Incident::Reconnected => News::Reconnected,
                    _ => News::Other,
                });
            });
        let nats = set(builder).start(&scheduler, server).unwrap();
        Self {
            nats,
            scheduler,
            news,
            server: None,
        }
    }

    /// Sends that process its last message, and waits until it comes: nothing comes before.
    #[track_caller]
    pub(crate) fn ends(&self, to: Pid, notes: &Receiver<Note>) {
        let last = Note::Text("last".to_owned());
        self.scheduler.send(to, last.clone()).unwrap();
        assert_eq!(next(notes), last);
    }

    /// Starts a process that passes on the messages that it gets.
    pub(crate) fn forward(&self) -> (Pid, Receiver<Note>) {
        let (sender, notes) = mpsc::channel();
        let process = self.scheduler.submit(Forward(sender), "run", ()).unwrap();
        (process.pid(), notes)
    }

    /// Waits for that incident.
    #[track_caller]
    pub(crate) fn wait_for(&self, wanted: News) {
        let mut others = Vec::new();
        let end = Instant::now() + LIMIT;
        while Instant::now() < end {
            match self.news.recv_timeout(end - Instant::now()) {
                Ok(news) if news == wanted => return,
                Ok(news) => others.push(news),
                Err(_) => break,
            }
        }
        panic!("waited in vain for {wanted:?}; there was {others:?}");
    }

    /// Calls [`Nats::connect`], which waits for as long as the node is patient.
    #[track_caller]
    pub(crate) fn connect(&self, node: Node) -> Result<Life, ConnectError> {
        await_next("a connection", &self.begin_to_connect(node))
    }

    pub(crate) fn begin_to_connect(&self, node: Node) -> Receiver<Result<Life, ConnectError>> {
        let nats = self.nats.clone();
        begin(move || nats.connect(node))
    }

    /// Calls [`Nats::whereis`], which waits for as long as the other node lives.
    #[track_caller]
    pub(crate) fn whereis(
        &self,
        node: Node,
        name: &'static str,
    ) -> Result<Option<Pid>, ConnectError> {
        let nats = self.nats.clone();
        let answer = begin(move || nats.whereis(node, name));
        await_next("the word of a node on a name", &answer)
    }

    /// Monitors a process; the watcher is told of the end with that number.
    pub(crate) fn monitor(&self, watcher: Pid, watched: Pid, number: u64) {
        let message = move |ended| Note::Ended(number, ended);
        self.nats.monitor(watcher, watched, message);
    }

    /// Calls [`Handle::send`](filch_scheduler::Handle::send), which must not wait.
    #[track_caller]
    pub(crate) fn send(&self, to: Pid, note: Note) -> Result<(), SendError<Test>> {
        let scheduler = self.scheduler.handle();
        let answer = begin(move || scheduler.send(to, note));
        await_next("a send that returns", &answer)
    }
}

/// Makes a call that may wait, on a thread of its own.
fn begin<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (teller, answer) = mpsc::channel();
    thread::spawn(move || teller.send(call()));
    answer
}

pub(crate) fn scheduler(node: u32) -> Scheduler<Test> {
    let builder = Scheduler::builder().workers(1).node(Node(node));
    builder.build().unwrap()
}

/// Starts two connected nodes.
pub(crate) fn two(server: &Server) -> (TestNode, TestNode) {
    let (here, there) = (TestNode::new(1, server), TestNode::new(2, server));
    assert_eq!(here.connect(Node(2)), Ok(there.nats.life()));
    (here, there)
}

/// Starts two connected nodes, and a server for them. Returns `None` if it is not installed.
pub(crate) fn pair() -> Option<(TestNode, TestNode)> {
    let server = Server::start()?;
    let (mut here, there) = two(&server);
    here.server = Some(server);
    Some((here, there))
}

/// Waits for the next thing that comes.
#[track_caller]
pub(crate) fn next<T>(things: &Receiver<T>) -> T {
    await_next(type_name::<T>(), things)
}

/// Does the same, if the type does not say `what` it is.
#[track_caller]
pub(crate) fn await_next<T>(what: &str, things: &Receiver<T>) -> T {
    match things.recv_timeout(LIMIT) {
        Ok(thing) => thing,
        Err(error) => panic!("waited in vain for {what}: {error}"),
    }
}

/// Looks, or tries, until there is something: counters do not report their changes.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + LIMIT;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        thread::yield_now();
    }
}

/// Sends the numbers from `first` on, until there is no route to the node any more. Returns the
/// number that came back.
#[track_caller]
pub(crate) fn send_until_cut_off(here: &TestNode, to: Pid, first: u64) -> u64 {
    let mut number = first;
    eventually("the node to be cut off", || {
        match here.scheduler.send(to, Note::Number(number)) {
            Ok(()) => number += 1,
            Err(back) if back.reason == Undelivered::NoRoute => return Some(number),
            Err(back) => assert!(matches!(back.reason, Undelivered::Backlog { .. }), "{back}"),
        }
        None
    })
}

/// Tells the test of each message, and then waits until the test lets it go on.
pub(crate) struct Slow {
    pub(crate) may_go: Receiver<()>,
    pub(crate) sender: Sender<Note>,
}

impl Process<Test> for Slow {
    fn init(&mut self, _: &Context<'_, Test>, _: &str, (): ()) -> Result<(), InitError<Test>> {
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, Test>,
        events: Events<'_, Test>,
        _: &mut StepOutput<Test>,
    ) -> Result<(), String> {
        for event in events {
            if let Event::Message(note) = event {
                let _ = self.sender.send(note);
                // Without a test to wait for, it does not wait.
                let _ = context.blocking(|| self.may_go.recv());
            }
        }
        Ok(())
    }
}
