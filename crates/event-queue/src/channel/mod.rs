//! The safe pair of ends: any number of senders, one receiver, which may sleep.

mod adaptive_delay;
#[cfg(not(target_os = "none"))]
mod blocking;
mod receiver;
mod recv_error;
mod sender;
mod shared;
mod sleeper;
#[cfg(test)]
mod tests;

use filch_sync::Arc;

pub use self::receiver::Receiver;
pub use self::recv_error::RecvError;
pub use self::sender::Sender;
use self::shared::Shared;

/// Creates a queue and its two ends. Allocates the queue itself, and no room for events.
///
/// The queue is freed with its last end. The receiver closes it when dropped. The last sender does
/// not: the receiver can [make](Receiver::sender) another one. But a receiver that waits is told,
/// as nothing can come while it does.
///
/// # Examples
/// ```
/// let (sender, mut receiver) = filch_event_queue::channel();
/// let worker = std::thread::spawn({
///     let sender = sender.clone();
///     move || sender.push("from the worker")
/// });
/// worker.join().unwrap().unwrap();
/// sender.push("from the main thread").unwrap();
///
/// assert_eq!(receiver.pop(), Some("from the worker"));
/// assert_eq!(receiver.pop(), Some("from the main thread"));
/// assert_eq!(receiver.pop(), None);
///
/// drop(receiver);
/// assert_eq!(sender.push("too late").unwrap_err().into_inner(), "too late");
/// ```
pub fn channel<T: Send>() -> (Sender<T>, Receiver<T>) {
    let receiver = Receiver::new(Arc::new(Shared::new()));
    (receiver.sender(), receiver)
}
