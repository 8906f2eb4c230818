//! Sockets and shutdown: a process whose command waits for a peer that says nothing.
//!
//! The first reader interrupts that command when it is closed, so the shutdown is prompt and leaves
//! nothing. The second one does not: the shutdown comes back all the same, and says which call it
//! left on which thread.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::time::Duration;

use filch_actors::BlockingThreads;
use filch_scheduler::{
    CallKind, Completion, Context, Event, Events, ExitReason, InitError, Process, Protocol,
    RunningCall, Scheduler, StepOutput,
};

// ANCHOR: protocol
enum Sockets {}

impl Protocol for Sockets {
    type Input = ();
    type Message = ();
    /// Read from this.
    type Command = TcpStream;
    /// The bytes that came; none at the end of the stream.
    type Reply = Vec<u8>;
    type Output = usize;
    type Error = std::io::Error;
}

/// Commands may wait for a peer for ever, so each has a thread meanwhile.
fn start() -> Result<Scheduler<Sockets>, Box<dyn Error>> {
    let threads = BlockingThreads::new(NonZeroUsize::MIN.saturating_add(63));
    let scheduler = Scheduler::builder()
        .workers(2)
        .handler(
            move |mut socket: TcpStream, completion: Completion<Sockets>| {
                let label = match socket.peer_addr() {
                    Ok(peer) => format!("read from {peer}"),
                    Err(error) => format!("read, {error}"),
                };
                threads.run_labelled(label, completion, move || {
                    let mut bytes = vec![0; 1024];
                    let length = socket.read(&mut bytes)?;
                    bytes.truncate(length);
                    Ok(bytes)
                });
            },
        )
        .build()?;
    Ok(scheduler)
}
// ANCHOR_END: protocol

// ANCHOR: reader
/// Counts what a peer sends.
struct Reader {
    socket: TcpStream,
    reads: u64,
    total: usize,
    interrupts: bool,
}

impl Process<Sockets> for Reader {
    fn init(
        &mut self,
        _: &Context<'_, Sockets>,
        _: &str,
        (): (),
    ) -> Result<(), InitError<Sockets>> {
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Sockets>,
        events: Events<'_, Sockets>,
        out: &mut StepOutput<Sockets>,
    ) -> Result<(), std::io::Error> {
        for event in events {
            match event {
                Event::Completed { result, .. } => {
                    let bytes = result.map_err(|error| std::io::Error::other(error.to_string()))?;
                    if bytes.is_empty() {
                        out.done(self.total);
                        return Ok(());
                    }
                    self.total += bytes.len();
                }
                Event::Cancel(_) => {
                    out.done(self.total);
                    return Ok(());
                }
                _ => {}
            }
        }
        // The command gets the socket, and the process keeps it.
        out.yield_command(self.reads, self.socket.try_clone()?);
        self.reads += 1;
        out.wait();
        Ok(())
    }

    /// Makes the command that reads now return.
    fn close(&mut self, _: &ExitReason) {
        if self.interrupts {
            // Refused if the peer has gone. Then the command returns anyway.
            let _ = self.socket.shutdown(Shutdown::Both);
        }
    }
}
// ANCHOR_END: reader

/// Makes both ends of a connection: ours, and that of a peer.
fn connection() -> std::io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let peer = TcpStream::connect(listener.local_addr()?)?;
    Ok((listener.accept()?.0, peer))
}

/// Makes a scheduler with one reader, which has read its peer's bytes, and reads on.
fn reading(
    interrupts: bool,
) -> Result<(Scheduler<Sockets>, filch_scheduler::Pid, TcpStream), Box<dyn Error>> {
    let scheduler = start()?;
    let (socket, mut peer) = connection()?;
    let reader = Reader {
        socket,
        reads: 0,
        total: 0,
        interrupts,
    };
    let pid = scheduler.submit(reader, "read", ())?.pid();
    peer.write_all(b"hello")?;
    // The first command has been answered, and the second one has begun.
    let is_second = |call: &RunningCall| matches!(call.kind, CallKind::Command { tag: 1, .. });
    while !scheduler.running().iter().any(is_second) {
        std::thread::yield_now();
    }
    Ok((scheduler, pid, peer))
}

fn main() -> Result<(), Box<dyn Error>> {
    // ANCHOR: interrupted
    let (scheduler, _, peer) = reading(true)?;
    let report = scheduler.shutdown(Duration::from_secs(600))?;
    println!("interrupted: {report}");
    assert!(report.is_clean());
    // ANCHOR_END: interrupted
    drop(peer);

    // ANCHOR: abandoned
    let (scheduler, pid, peer) = reading(false)?;
    let report = scheduler.shutdown(Duration::from_millis(100))?;
    println!("not interrupted: {report}");
    let [call] = report.running.as_slice() else {
        return Err("one call still runs".into());
    };
    assert_eq!(call.process, Some(pid));
    assert!(matches!(call.kind, CallKind::Command { tag: 1, .. }));
    // ANCHOR_END: abandoned
    drop(peer);
    Ok(())
}
