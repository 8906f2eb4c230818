//! A closed queue hands the event back, and the caller has to take it.

#![deny(unused_must_use)]

use filch_event_queue::Sender;

pub fn case(sender: &Sender<u32>) {
    #[cfg(misuse)]
    sender.push(1); //~ unused_must_use unused `Result` that must be used
    #[cfg(not(misuse))]
    let _ = sender.push(1);
}
