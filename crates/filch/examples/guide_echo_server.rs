//! An echo server on loopback, with a process for each connection, supervisors over them, and a
//! shutdown that lets each finish what it has begun.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use filch::actors::BlockingThreads;
use filch::actors::timers::Timers;
use filch::prelude::*;
use filch::scheduler::{
    Completion, Context, Event, Events, ExitReason, InitError, Process, Protocol, Scheduler,
    StepOutput,
};
use filch::supervisor::{
    Backoff, Child, Restart, Shutdown as End, Strategy, Supervisor, SupervisorHandle,
};

const CLIENTS: usize = 200;
const MINUTE: Duration = Duration::from_secs(60);

// ANCHOR: protocol
enum Echo {}

enum Command {
    Accept(Arc<TcpListener>),
    /// Read the peer's bytes, and send them back.
    Repeat(Arc<TcpStream>),
}

enum Reply {
    Accepted(TcpStream),
    /// The number of bytes; zero at the end of the peer's.
    Repeated(usize),
}

impl Protocol for Echo {
    type Input = ();
    type Message = ();
    type Command = Command;
    type Reply = Reply;
    type Output = ();
    type Error = io::Error;
}

/// Starts a scheduler with a thread for each waiting command: one accepts, each client has one.
fn start() -> Result<Scheduler<Echo>, Box<dyn Error + Send + Sync>> {
    let threads = BlockingThreads::new(NonZeroUsize::MIN.saturating_add(CLIENTS));
    let handler = move |command, completion: Completion<Echo>| match command {
        Command::Accept(listener) => threads.run_labelled("accept", completion, move || {
            Ok(Reply::Accepted(listener.accept()?.0))
        }),
        Command::Repeat(socket) => {
            let peer = socket.peer_addr();
            let label = peer.map_or_else(|error| error.to_string(), |peer| peer.to_string());
            threads.run_labelled(label, completion, move || {
                let mut bytes = [0; 1024];
                let length = (&*socket).read(&mut bytes)?;
                let said = &bytes[..length];
                assert!(!said.contains(&0), "nobody has thought of a zero");
                (&*socket).write_all(said)?;
                Ok(Reply::Repeated(length))
            });
        }
    };
    Ok(Scheduler::builder().workers(2).handler(handler).build()?)
}
// ANCHOR_END: protocol

// ANCHOR: listener
/// Accepts connections until it is cancelled, and starts each below its own supervisor.
struct Listener {
    socket: Arc<TcpListener>,
    /// The supervisor of the whole server.
    server: SupervisorHandle<Echo>,
}

impl Process<Echo> for Listener {
    fn init(&mut self, _: &Context<'_, Echo>, _: &str, (): ()) -> Result<(), InitError<Echo>> {
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, Echo>,
        events: Events<'_, Echo>,
        out: &mut StepOutput<Echo>,
    ) -> Result<(), io::Error> {
        for event in events {
            match event {
                Event::Completed { result, .. } => {
                    if let Reply::Accepted(socket) = result.map_err(io::Error::other)? {
                        let started = start_connection(self.server.clone(), socket);
                        // Nobody waits for it.
                        drop(context.handle().spawn(started).map_err(io::Error::other)?);
                    }
                }
                Event::Cancel(_) => {
                    out.done(());
                    return Ok(());
                }
                _ => {}
            }
        }
        out.yield_command(0, Command::Accept(Arc::clone(&self.socket)));
        out.wait();
        Ok(())
    }

    /// Makes one last connection, so that the command that accepts ends.
    fn close(&mut self, _: &ExitReason) {
        // If the system refuses it, the report of the shutdown has the command.
        let _ = self.socket.local_addr().and_then(TcpStream::connect);
    }
}

/// Starts a connection; a future, as a step does not wait for answers.
async fn start_connection(server: SupervisorHandle<Echo>, socket: TcpStream) {
    // Refused when the server is about to end: then the socket is dropped, and so closed.
    if let Ok(connections) = server.below("connections").await {
        let _ = connections.start_child(connection(socket)).await;
    }
}
// ANCHOR_END: listener

// ANCHOR: connection
/// Echoes one peer.
struct Connection {
    socket: Arc<TcpStream>,
    /// Set while a command is under way.
    repeats: bool,
}

impl Process<Echo> for Connection {
    fn init(&mut self, _: &Context<'_, Echo>, _: &str, (): ()) -> Result<(), InitError<Echo>> {
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Echo>,
        events: Events<'_, Echo>,
        out: &mut StepOutput<Echo>,
    ) -> Result<(), io::Error> {
        for event in events {
            match event {
                Event::Completed { result, .. } => match result.map_err(io::Error::other)? {
                    Reply::Repeated(0) => {
                        out.done(());
                        return Ok(());
                    }
                    _ => self.repeats = false,
                },
                // The bytes that have arrived are still read and repeated; then comes the end.
                Event::Cancel(_) => self.socket.shutdown(Shutdown::Read)?,
                _ => {}
            }
        }
        if !self.repeats {
            out.yield_command(0, Command::Repeat(Arc::clone(&self.socket)));
            self.repeats = true;
        }
        out.wait();
        Ok(())
    }

    /// Ends a command that is left in a read or a write.
    fn close(&mut self, _: &ExitReason) {
        // Refused if the peer has gone. Then no command waits for it.
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}
// ANCHOR_END: connection

// ANCHOR: tree
/// Starts its connections, and behind them the listener, which is started last and ended first.
fn start_server(
    scheduler: &Scheduler<Echo>,
    timers: &Timers,
) -> Result<(SupervisorHandle<Echo>, SocketAddr), Box<dyn Error + Send + Sync>> {
    let socket = Arc::new(TcpListener::bind("127.0.0.1:0")?);
    let address = socket.local_addr()?;
    let server = Supervisor::new(Strategy::RestForOne)
        // More failures than these pauses leave room for in a minute: it does not give up.
        .intensity(25, MINUTE)
        // The cause of a failed accept, such as too many open files, takes time to go away.
        .backoff(Backoff::exponential(
            Duration::from_millis(10),
            Duration::from_secs(5),
        ))
        .child(Child::supervisor("connections", || {
            Supervisor::new(Strategy::Dynamic)
        }))
        .start(scheduler, timers)?
        .wait()?;
    // The socket outlives the process that accepts: meanwhile clients wait in it.
    let above = server.clone();
    let listener = Child::new("listener", move |scheduler| {
        let (socket, server) = (Arc::clone(&socket), above.clone());
        scheduler.submission(Listener { socket, server }, "listen", ())
    });
    server.start_child(listener).wait()?;
    Ok((server, address))
}

/// Makes the child of a connection, without a name. Nobody restarts it: its peer has gone.
fn connection(socket: TcpStream) -> Child<Echo> {
    let socket = Arc::new(socket);
    let child = Child::unnamed(move |scheduler| {
        let (socket, repeats) = (Arc::clone(&socket), false);
        scheduler.submission(Connection { socket, repeats }, "serve", ())
    });
    child
        .restart(Restart::Temporary)
        .shutdown(End::After(MINUTE))
}
// ANCHOR_END: tree

// ANCHOR: client
/// Connects, sends some bytes, and gets them back.
fn client(address: SocketAddr, number: usize) -> Result<TcpStream, io::Error> {
    let mut client = TcpStream::connect(address)?;
    repeats(&mut client, format!("client {number:03}").as_bytes())?;
    Ok(client)
}

fn repeats(client: &mut TcpStream, said: &[u8]) -> Result<(), io::Error> {
    client.write_all(said)?;
    let mut answer = vec![0; said.len()];
    client.read_exact(&mut answer)?;
    assert_eq!(answer, said);
    Ok(())
}
// ANCHOR_END: client

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    // ANCHOR: clients
    let (scheduler, timers) = (start()?, Timers::new()?);
    let (server, address) = start_server(&scheduler, &timers)?;
    let clients = (0..CLIENTS).map(|number| client(address, number));
    let mut clients = clients.collect::<Result<Vec<_>, _>>()?;
    // All are connected still.
    let connections = server.below("connections").wait()?;
    assert_eq!(connections.children().wait()?.len(), CLIENTS);
    // ANCHOR_END: clients

    // ANCHOR: crash
    let listener = scheduler.whereis("listener");
    let mut odd = clients.swap_remove(CLIENTS / 2);
    odd.write_all(&[0])?;
    assert_eq!(odd.read(&mut [0])?, 0, "it is closed, unanswered");
    // Its supervisor deletes it, and starts nothing in its place.
    while connections.children().wait()?.len() == CLIENTS {
        thread::yield_now();
    }
    // The others have not noticed, and there is room for one more.
    for client in &mut clients {
        repeats(client, b"still there")?;
    }
    clients.push(client(address, CLIENTS)?);
    assert_eq!(connections.children().wait()?.len(), CLIENTS);
    assert_eq!(scheduler.whereis("listener"), listener);
    // ANCHOR_END: crash

    // ANCHOR: shutdown
    // Is there a listener, when the last connection has ended?
    let (tell, listener) = mpsc::channel();
    let handle = scheduler.handle();
    let connections = handle.whereis("connections").ok_or("it runs")?;
    let _call = scheduler.at_end(connections, move |_| {
        let _ = tell.send(handle.whereis("listener"));
    });

    for client in &mut clients {
        client.write_all(b"bye")?;
    }
    server.stop().wait()?;
    assert_eq!(listener.recv()?, None, "the listener has ended before");
    for client in &mut clients {
        let mut last = String::new();
        client.read_to_string(&mut last)?;
        assert_eq!(last, "bye");
    }
    // For the threads: the command that accepted may return just now.
    let handle = scheduler.handle();
    let report = scheduler.shutdown(MINUTE)?;
    println!("{report}");
    assert!(report.is_clean() && report.aborted == 0);
    // Of all processes, one has not ended well.
    assert_eq!(handle.stats().total().failed, 1);
    // ANCHOR_END: shutdown
    Ok(())
}
