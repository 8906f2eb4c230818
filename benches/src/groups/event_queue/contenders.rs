//! The contenders, behind one trait.

use std::sync::Arc;
use std::sync::mpsc;

use concurrent_queue::ConcurrentQueue;
use crossbeam_queue::SegQueue;
use filch_event_queue as filch;

/// What the scenarios need from a queue.
pub(super) trait Queue {
    type Sender: Clone + Send;
    type Receiver: Send;

    fn new() -> (Self::Sender, Self::Receiver);
    fn push(sender: &Self::Sender, event: u64);
    fn pop(receiver: &mut Self::Receiver) -> Option<u64>;

    /// Takes events until there are none; returns how many. By the contender's batch method, where
    /// it has one.
    fn drain(receiver: &mut Self::Receiver, mut sink: impl FnMut(u64)) -> u64 {
        let mut taken = 0;
        while let Some(event) = Self::pop(receiver) {
            sink(event);
            taken += 1;
        }
        taken
    }
}

pub(super) struct Filch;

impl Queue for Filch {
    type Sender = filch::Sender<u64>;
    type Receiver = filch::Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        filch::channel()
    }

    fn push(sender: &Self::Sender, event: u64) {
        sender.push(event).expect("never closed");
    }

    fn pop(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.pop()
    }

    fn drain(receiver: &mut Self::Receiver, sink: impl FnMut(u64)) -> u64 {
        receiver.drain(sink) as u64
    }
}

/// Channels with a `send` that fails only when the receiver is gone, and a `try_recv`.
macro_rules! channel {
    ($name:ident, $sender:ty, $receiver:ty, $new:expr) => {
        pub(super) struct $name;

        impl Queue for $name {
            type Sender = $sender;
            type Receiver = $receiver;

            fn new() -> (Self::Sender, Self::Receiver) {
                $new()
            }

            fn push(sender: &Self::Sender, event: u64) {
                sender.send(event).expect("the receiver lives");
            }

            fn pop(receiver: &mut Self::Receiver) -> Option<u64> {
                receiver.try_recv().ok()
            }
        }
    };
}

channel!(Std, mpsc::Sender<u64>, mpsc::Receiver<u64>, mpsc::channel);
channel!(
    Crossbeam,
    crossbeam_channel::Sender<u64>,
    crossbeam_channel::Receiver<u64>,
    crossbeam_channel::unbounded
);

pub(super) struct Kanal;

impl Queue for Kanal {
    type Sender = kanal::Sender<u64>;
    type Receiver = (kanal::Receiver<u64>, Vec<u64>);

    fn new() -> (Self::Sender, Self::Receiver) {
        let (sender, receiver) = kanal::unbounded();
        (sender, (receiver, Vec::new()))
    }

    fn push(sender: &Self::Sender, event: u64) {
        sender.send(event).expect("the receiver lives");
    }

    fn pop((receiver, _): &mut Self::Receiver) -> Option<u64> {
        receiver.try_recv().ok().flatten()
    }

    fn drain((receiver, batch): &mut Self::Receiver, sink: impl FnMut(u64)) -> u64 {
        // An error: no sender is left, and the queue is empty.
        let taken = receiver.drain_into(batch).unwrap_or(0);
        batch.drain(..).for_each(sink);
        taken as u64
    }
}

/// Queues that are shared whole.
macro_rules! shared {
    ($name:ident, $queue:ty, $new:expr, $push:expr, $pop:expr $(, $drain:item)?) => {
        pub(super) struct $name;

        impl Queue for $name {
            type Sender = Arc<$queue>;
            type Receiver = Arc<$queue>;

            fn new() -> (Self::Sender, Self::Receiver) {
                let queue = Arc::new($new());
                (Arc::clone(&queue), queue)
            }

            fn push(sender: &Self::Sender, event: u64) {
                $push(sender, event)
            }

            fn pop(receiver: &mut Self::Receiver) -> Option<u64> {
                $pop(receiver)
            }

            $($drain)?
        }
    };
}

shared!(
    Segments,
    SegQueue<u64>,
    SegQueue::new,
    SegQueue::push,
    SegQueue::pop
);
shared!(
    Concurrent,
    ConcurrentQueue<u64>,
    ConcurrentQueue::unbounded,
    |queue: &ConcurrentQueue<u64>, event| queue.push(event).expect("never closed"),
    |queue: &ConcurrentQueue<u64>| queue.pop().ok()
);
shared!(
    May,
    may_queue::mpsc::Queue<u64>,
    may_queue::mpsc::Queue::new,
    may_queue::mpsc::Queue::push,
    may_queue::mpsc::Queue::pop,
    fn drain(receiver: &mut Self::Receiver, mut sink: impl FnMut(u64)) -> u64 {
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
