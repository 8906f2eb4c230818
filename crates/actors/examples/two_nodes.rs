//! Messages to a process on another node, over a wire that carries bytes.

use std::sync::mpsc::{self, TrySendError};

use filch_actors::prelude::*;
use filch_scheduler::{Node, Pid, Protocol, Receiver, Scheduler, SendError, Undelivered};

enum Texts {}

impl Protocol for Texts {
    type Input = ();
    type Message = String;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

/// The sending end.
struct Wire(mpsc::SyncSender<(u128, Vec<u8>)>);

impl Receiver<Texts> for Wire {
    fn receive(&self, to: Pid, message: String) -> Result<(), SendError<Texts>> {
        let packet = (to.to_bits(), message.into_bytes());
        self.0.try_send(packet).map_err(|error| {
            let (TrySendError::Full(packet) | TrySendError::Disconnected(packet)) = error;
            SendError {
                to,
                message: String::from_utf8(packet.1).expect("it was text before"),
                reason: Undelivered::NoRoute,
            }
        })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let here = Scheduler::<Texts>::builder()
        .workers(1)
        .node(Node(1))
        .build()?;
    let there = Pid::from_bits(2 << 96); // some process on node 2

    let refused = here.send(there, "hello".to_owned()).unwrap_err();
    assert_eq!(refused.reason, Undelivered::NoRoute);
    assert_eq!(refused.message, "hello");

    let (wire, other_end) = mpsc::sync_channel(16);
    here.connect(Node(2), Wire(wire))?;
    here.send(there, "hello".to_owned())?;
    assert_eq!(other_end.recv()?, (there.to_bits(), b"hello".to_vec()));
    Ok(())
}
