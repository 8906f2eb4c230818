//! An echo server on loopback, with a process for each connection, and a shutdown that lets each
//! finish what it has begun.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::time::Duration;

use filch::scheduler::{
    BlockingThreads, Completion, Context, Event, Events, ExitReason, InitError, Process, Protocol,
    Scheduler, StepOutput, SubmitError,
};

const CLIENTS: usize = 200;

// ANCHOR: protocol
enum Echo {}

enum Command {
    Accept(TcpListener),
    /// Read what the peer says, and say it back.
    Repeat(TcpStream),
}

enum Reply {
    Accepted(TcpStream),
    /// So many bytes; none when the peer has said all.
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

/// A thread for each command that waits: one accepts, and there is one for each client.
fn start() -> Result<Scheduler<Echo>, Box<dyn Error + Send + Sync>> {
    let threads = BlockingThreads::new(NonZeroUsize::MIN.saturating_add(CLIENTS));
    let handler = move |command, completion: Completion<Echo>| match command {
        Command::Accept(listener) => threads.run_labelled("accept", completion, move || {
            Ok(Reply::Accepted(listener.accept()?.0))
        }),
        Command::Repeat(mut socket) => {
            let peer = socket.peer_addr();
            let label = peer.map_or_else(|error| error.to_string(), |peer| peer.to_string());
            threads.run_labelled(label, completion, move || {
                let mut bytes = [0; 1024];
                let length = socket.read(&mut bytes)?;
                socket.write_all(&bytes[..length])?;
                Ok(Reply::Repeated(length))
            });
        }
    };
    Ok(Scheduler::builder().workers(2).handler(handler).build()?)
}
// ANCHOR_END: protocol

// ANCHOR: listener
/// Accepts connections until it is cancelled.
struct Listener(TcpListener);

impl Listener {
    fn bind() -> io::Result<(Self, SocketAddr)> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        Ok((Self(listener), address))
    }
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
                        match context.submit(Connection::new(socket), "serve", ()) {
                            // The connection lives without anybody that waits for it.
                            Ok(connection) => drop(connection),
                            // It is closed. The cancel comes next.
                            Err(SubmitError::ShutDown(_)) => {}
                            Err(error) => return Err(io::Error::other(error)),
                        }
                    }
                }
                Event::Cancel(_) => {
                    out.done(());
                    return Ok(());
                }
                _ => {}
            }
        }
        out.yield_command(0, Command::Accept(self.0.try_clone()?));
        out.wait();
        Ok(())
    }

    /// The command that accepts gets its last connection: this one.
    fn close(&mut self, _: &ExitReason) {
        // If the system refuses it, the report of the shutdown has the command.
        let _ = self.0.local_addr().and_then(TcpStream::connect);
    }
}
// ANCHOR_END: listener

// ANCHOR: connection
/// Repeats what one peer says.
struct Connection {
    socket: TcpStream,
    /// Whether a command is under way.
    repeats: bool,
}

impl Connection {
    fn new(socket: TcpStream) -> Self {
        let repeats = false;
        Self { socket, repeats }
    }
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
                // What has arrived is still read and repeated, and then comes the end.
                Event::Cancel(_) => self.socket.shutdown(Shutdown::Read)?,
                _ => {}
            }
        }
        if !self.repeats {
            out.yield_command(0, Command::Repeat(self.socket.try_clone()?));
            self.repeats = true;
        }
        out.wait();
        Ok(())
    }

    /// However this ends, no command is left in a read or a write.
    fn close(&mut self, _: &ExitReason) {
        // Refused if the peer has gone. Then no command waits for it.
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}
// ANCHOR_END: connection

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    // ANCHOR: clients
    let scheduler = start()?;
    let (listener, address) = Listener::bind()?;
    let listener = scheduler.submit(listener, "listen", ())?;

    let mut clients = Vec::new();
    for number in 0..CLIENTS {
        let said = format!("client {number:03}");
        let mut client = TcpStream::connect(address)?;
        client.write_all(said.as_bytes())?;
        let mut answer = [0; 10];
        client.read_exact(&mut answer)?;
        assert_eq!(answer, said.as_bytes());
        clients.push(client);
    }
    // All are connected still.
    assert_eq!(scheduler.processes().len(), CLIENTS + 1);
    // ANCHOR_END: clients

    // ANCHOR: shutdown
    for client in &mut clients {
        client.write_all(b"bye")?;
    }
    let report = scheduler.shutdown(Duration::from_secs(60))?;
    println!("{report}");
    assert!(report.is_clean() && report.aborted == 0);
    listener.join()?;
    for client in &mut clients {
        let mut last = String::new();
        client.read_to_string(&mut last)?;
        assert_eq!(last, "bye");
    }
    // ANCHOR_END: shutdown
    Ok(())
}
