//! Two threads that share one receiver.

use filch_event_queue::{Receiver, Sender};

pub fn case(receiver: &Receiver<u32>, sender: &Sender<u32>) {
    std::thread::scope(|scope| {
        let (receiver, sender) = (receiver, sender);
        #[cfg(misuse)]
        scope.spawn(|| receiver.is_empty()); //~ E0277 cannot be shared between threads safely
        #[cfg(not(misuse))]
        let _ = receiver;
        scope.spawn(|| sender.is_closed());
    });
}
