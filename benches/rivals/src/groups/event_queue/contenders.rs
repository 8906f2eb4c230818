//! The contenders, behind one trait.

use std::sync::Arc;
use std::sync::mpsc;

use concurrent_queue::ConcurrentQueue;
use crossbeam_queue::SegQueue;
use crossfire::mpsc::{List, unbounded_blocking};
use filch_event_queue as filch;

/// A queue of `T`, as the scenarios need it.
pub(super) trait Queue<T>: 'static {
    type Sender: Clone + Send + 'static;
    type Receiver: Send + 'static;

    fn new() -> (Self::Sender, Self::Receiver);
    fn push(sender: &Self::Sender, event: T);

    /// The oldest event, if there is one: `try_recv`, where it is called so.
    fn pop(receiver: &mut Self::Receiver) -> Option<T>;

    /// Takes events until there are none; returns how many. By the contender's batch method, where
    /// it has one.
    fn drain(receiver: &mut Self::Receiver, mut sink: impl FnMut(T)) -> u64 {
        let mut taken = 0;
        while let Some(event) = Self::pop(receiver) {
            sink(event);
            taken += 1;
        }
        taken
    }
}

/// A queue with a receiver that sleeps.
pub(super) trait Blocking<T>: Queue<T> {
    /// Waits for an event. No scenario ends while it waits.
    fn recv(receiver: &mut Self::Receiver) -> T;
}

pub(super) struct Filch;

impl<T: Send + 'static> Queue<T> for Filch {
    type Sender = filch::Sender<T>;
    type Receiver = filch::Receiver<T>;

    fn new() -> (Self::Sender, Self::Receiver) {
        filch::channel()
    }

    fn push(sender: &Self::Sender, event: T) {
        sender.push(event).expect("never closed");
    }

    fn pop(receiver: &mut Self::Receiver) -> Option<T> {
        receiver.try_recv().ok()
    }

    fn drain(receiver: &mut Self::Receiver, sink: impl FnMut(T)) -> u64 {
        receiver.drain(sink) as u64
    }
}

impl<T: Send + 'static> Blocking<T> for Filch {
    fn recv(receiver: &mut Self::Receiver) -> T {
        receiver.recv().expect("a sender lives")
    }
}

/// Channels with a `send` that fails only when the receiver is gone, a `try_recv`, and a `recv`.
macro_rules! channel {
    ($name:ident, $sender:ty, $receiver:ty, $new:expr) => {
        pub(super) struct $name;

        impl<T: Send + 'static> Queue<T> for $name {
            type Sender = $sender;
            type Receiver = $receiver;

            fn new() -> (Self::Sender, Self::Receiver) {
                $new()
            }

            fn push(sender: &Self::Sender, event: T) {
                sender.send(event).expect("the receiver lives");
            }

            fn pop(receiver: &mut Self::Receiver) -> Option<T> {
                receiver.try_recv().ok()
            }
        }

        impl<T: Send + 'static> Blocking<T> for $name {
            fn recv(receiver: &mut Self::Receiver) -> T {
                receiver.recv().expect("a sender lives")
            }
        }
    };
}

channel!(Std, mpsc::Sender<T>, mpsc::Receiver<T>, mpsc::channel);
channel!(
    Crossbeam,
    crossbeam_channel::Sender<T>,
    crossbeam_channel::Receiver<T>,
    crossbeam_channel::unbounded
);

channel!(
    Flume,
    flume::Sender<T>,
    flume::Receiver<T>,
    flume::unbounded
);
channel!(
    Crossfire,
    crossfire::MTx<List<T>>,
    crossfire::Rx<List<T>>,
    unbounded_blocking
);

pub(super) struct Kanal;

impl<T: Send + 'static> Queue<T> for Kanal {
    type Sender = kanal::Sender<T>;
    /// The receiver with the buffer of its batches.
    type Receiver = (kanal::Receiver<T>, Vec<T>);

    fn new() -> (Self::Sender, Self::Receiver) {
        let (sender, receiver) = kanal::unbounded();
        (sender, (receiver, Vec::new()))
    }

    fn push(sender: &Self::Sender, event: T) {
        sender.send(event).expect("the receiver lives");
    }

    fn pop((receiver, _): &mut Self::Receiver) -> Option<T> {
        receiver.try_recv().ok().flatten()
    }

    fn drain((receiver, batch): &mut Self::Receiver, sink: impl FnMut(T)) -> u64 {
        // An error: no sender is left, and the queue is empty.
        let taken = receiver.drain_into(batch).unwrap_or(0);
        batch.drain(..).for_each(sink);
        taken as u64
    }
}

impl<T: Send + 'static> Blocking<T> for Kanal {
    fn recv((receiver, _): &mut Self::Receiver) -> T {
        receiver.recv().expect("a sender lives")
    }
}

/// Its channel, which threads share with futures.
pub(super) struct Async;

impl<T: Send + 'static> Queue<T> for Async {
    type Sender = async_channel::Sender<T>;
    type Receiver = async_channel::Receiver<T>;

    fn new() -> (Self::Sender, Self::Receiver) {
        async_channel::unbounded()
    }

    fn push(sender: &Self::Sender, event: T) {
        assert!(sender.try_send(event).is_ok(), "the receiver lives");
    }

    fn pop(receiver: &mut Self::Receiver) -> Option<T> {
        receiver.try_recv().ok()
    }
}

impl<T: Send + 'static> Blocking<T> for Async {
    fn recv(receiver: &mut Self::Receiver) -> T {
        receiver.recv_blocking().expect("a sender lives")
    }
}

/// Queues that are shared whole.
macro_rules! shared {
    ($name:ident, $queue:ty, $new:expr, $push:expr, $pop:expr $(, $drain:item)?) => {
        pub(super) struct $name;

        impl<T: Send + 'static> Queue<T> for $name {
            type Sender = Arc<$queue>;
            type Receiver = Arc<$queue>;

            fn new() -> (Self::Sender, Self::Receiver) {
                let queue = Arc::new($new());
                (Arc::clone(&queue), queue)
            }

            fn push(sender: &Self::Sender, event: T) {
                $push(sender, event)
            }

            fn pop(receiver: &mut Self::Receiver) -> Option<T> {
                $pop(receiver)
            }

            $($drain)?
        }
    };
}

shared!(
    Segments,
    SegQueue<T>,
    SegQueue::new,
    SegQueue::push,
    SegQueue::pop
);
shared!(
    Concurrent,
    ConcurrentQueue<T>,
    ConcurrentQueue::unbounded,
    |queue: &ConcurrentQueue<T>, event| assert!(queue.push(event).is_ok(), "never closed"),
    |queue: &ConcurrentQueue<T>| queue.pop().ok()
);
shared!(
    May,
    may_queue::mpsc::Queue<T>,
    may_queue::mpsc::Queue::new,
    may_queue::mpsc::Queue::push,
    may_queue::mpsc::Queue::pop,
    fn drain(receiver: &mut Self::Receiver, mut sink: impl FnMut(T)) -> u64 {
        let mut taken = 0;
        loop {
            let batch = receiver.bulk_pop();
            if batch.is_empty() {
                return taken;
            }
            taken += batch.len() as u64;
            batch.into_iter().for_each(&mut sink);
        }
    }
);
