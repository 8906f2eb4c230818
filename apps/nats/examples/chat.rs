//! A chat of two people in two terminals. It needs a server of NATS.
//!
//! ```sh
//! nats-server                                        # in one terminal
//! cargo run -p filch-nats --example chat -- 1 2      # in another one: node 1, the other is node 2
//! cargo run -p filch-nats --example chat -- 2 1      # in a third one
//! ```
//!
//! A line typed in one terminal appears in the other. A program ends with its input (ctrl-d), or
//! when the other one has ended. A fourth argument is the server's address.

use std::error::Error;
use std::io::{self, stdin};
use std::sync::mpsc::{self, Sender};
use std::{env, thread};

use filch_actors::Inbox;
use filch_actors::prelude::*;
use filch_nats::{Codec, Ended, Nats};
use filch_scheduler::{Event, Node, Pid, Protocol, Scheduler};

const USAGE: &str = "usage: chat OWN_NODE OTHER_NODE [SERVER]
for example, in two terminals:  chat 1 2   and   chat 2 1
The server of NATS is expected at 127.0.0.1:4222.";

enum Chat {}

impl Protocol for Chat {
    type Input = ();
    type Message = Said;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

/// A message to the process that listens.
enum Said {
    /// From the other listening process: its PID, for an answer, and the line.
    Line(Pid, String),
    /// From the transport: that process is gone.
    Gone(Ended),
}

/// An event that the program waits for.
pub(crate) enum Happening {
    Typed(String),
    InputEnded,
    Heard(Pid, String),
    OtherGone(Ended),
}

/// The codec: a line travels as the PID's 16 bytes, and the text.
struct Lines;

impl Codec<Said> for Lines {
    type Error = io::Error;

    fn encode(&self, said: &Said, bytes: &mut Vec<u8>) -> io::Result<()> {
        let Said::Line(from, text) = said else {
            return Err(io::Error::other("only lines travel"));
        };
        bytes.extend_from_slice(&from.to_bits().to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn decode(&self, bytes: &[u8]) -> io::Result<Said> {
        let no_sender = || io::Error::other("there is no sender");
        let (from, text) = bytes.split_first_chunk().ok_or_else(no_sender)?;
        let text = str::from_utf8(text).map_err(io::Error::other)?;
        let from = Pid::from_bits(u128::from_le_bytes(*from));
        Ok(Said::Line(from, text.to_owned()))
    }
}

/// The process with the name `chat`: passes on the messages that it gets.
async fn listen(mut inbox: Inbox<Chat>, happenings: Sender<Happening>) {
    loop {
        let happening = match inbox.next().await {
            Event::Message(Said::Line(from, text)) => Happening::Heard(from, text),
            Event::Message(Said::Gone(ended)) => Happening::OtherGone(ended),
            Event::Cancel(_) => break,
            _ => continue,
        };
        // Nobody listens once the program is about to end.
        let _ = happenings.send(happening);
    }
}

/// Talks until the input or the other program has ended.
pub(crate) fn talk(
    [own, other]: [Node; 2],
    server: &str,
    sender: Sender<Happening>,
    happenings: mpsc::Receiver<Happening>,
    mut print: impl FnMut(String),
) -> Result<(), Box<dyn Error>> {
    let scheduler = Scheduler::<Chat>::builder().workers(1).node(own).build()?;
    let nats = Nats::builder(Lines).start(&scheduler, server)?;
    let listener = scheduler.spawn_with(|inbox| listen(inbox, sender))?;
    let here = listener.pid();
    scheduler.register("chat", here)?;
    // The first program finds nobody, and is called by the second one.
    let mut friend = match nats.connect(other) {
        Ok(_) => nats.whereis(other, "chat")?,
        Err(_) => None,
    };
    let watch = |friend| {
        nats.monitor(here, friend, Said::Gone);
    };
    match friend {
        Some(friend) => {
            watch(friend);
            // So that the other one learns that somebody is there.
            scheduler.send(friend, Said::Line(here, "hello".to_owned()))?;
            print(format!("node {} is there; what do you say?", other.0));
        }
        None => print(format!("node {} is not there yet", other.0)),
    }
    for happening in happenings {
        match happening {
            Happening::Typed(text) => match friend {
                None => print("nobody is there yet".to_owned()),
                Some(friend) => {
                    if let Err(refused) = scheduler.send(friend, Said::Line(here, text)) {
                        print(format!("not sent: {refused}"));
                    }
                }
            },
            Happening::Heard(from, text) => {
                if friend.is_none() {
                    watch(from);
                    friend = Some(from);
                }
                print(format!("{}: {text}", from.node().0));
            }
            Happening::OtherGone(ended) => {
                print(format!("the other one is gone: {ended}"));
                break;
            }
            Happening::InputEnded => break,
        }
    }
    nats.leave();
    print(nats.stats().to_string());
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let (nodes, server) = match &arguments[..] {
        [own, other] => ([own, other], "127.0.0.1:4222"),
        [own, other, server] => ([own, other], server.as_str()),
        _ => {
            println!("{USAGE}");
            return Ok(());
        }
    };
    let [own, other] = nodes.map(|node| node.parse().map(Node));
    let (sender, happenings) = mpsc::channel();
    let typed = sender.clone();
    thread::spawn(move || {
        for line in stdin().lines().map_while(Result::ok) {
            let _ = typed.send(Happening::Typed(line));
        }
        let _ = typed.send(Happening::InputEnded);
    });
    talk([own?, other?], server, sender, happenings, |line| {
        println!("{line}");
    })
}
