//! A second consumer.

use filch_event_queue::{Receiver, Sender};

pub fn case(receiver: Receiver<u32>, sender: &Sender<u32>) -> (Receiver<u32>, Sender<u32>) {
    #[cfg(misuse)]
    let _: Receiver<u32> = receiver.clone(); //~ E0599 no method named `clone` found
    (receiver, sender.clone())
}
