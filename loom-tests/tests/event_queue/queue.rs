//! The queue that the models are about, and what many of them do with it.

use filch_event_queue::{Closed, EventQueue, PushError, ReopenError};
use filch_models::Crossing;
use filch_sync::Arc;
use filch_sync::thread::{self, JoinHandle};

use super::block_pool::NoneLeft;

/// An event: a value, aligned as nothing else in the models, so that their allocator knows a block.
#[repr(align(32))]
pub(crate) struct Event<T>(pub(crate) T);

/// The queue, its blocks with at most `CAP` slots, with a crossing before each call.
pub(crate) struct Queue<T, const CAP: usize> {
    pub(crate) queue: EventQueue<Event<T>>,
    crossing: Crossing,
    // Last: the queue is gone by then.
    _blocks: NoneLeft,
}

impl<T, const CAP: usize> Queue<T, CAP> {
    /// All its blocks with `CAP` slots.
    pub(crate) fn new() -> Arc<Self> {
        Self::with_first(CAP)
    }

    /// Makes a queue whose first block has `first` slots; each later one has twice as many and one.
    pub(crate) fn with_first(first: usize) -> Arc<Self> {
        Arc::new(Self {
            queue: EventQueue::with_blocks(first, CAP),
            crossing: Crossing::new(),
            _blocks: NoneLeft,
        })
    }

    fn cross(&self) -> &EventQueue<Event<T>> {
        self.crossing.pass();
        &self.queue
    }

    pub(crate) fn push(&self, event: T) -> Result<(), Closed<T>> {
        let pushed = self.cross().push(Event(event));
        pushed.map_err(|Closed(Event(event))| Closed(event))
    }

    pub(crate) fn push_in(&self, generation: u32, event: T) -> Result<(), PushError<T>> {
        let pushed = self.cross().push_in(generation, Event(event));
        pushed.map_err(|refused| match refused {
            PushError::Closed(Event(event)) => PushError::Closed(event),
            PushError::Stale(Event(event)) => PushError::Stale(event),
            other => panic!("{other}"),
        })
    }

    /// Drains once. The models call this, and what follows, from one thread per queue.
    pub(crate) fn drain(&self) -> Vec<T> {
        let mut events = Vec::new();
        let moved = self.drain_into(|event| events.push(event));
        assert_eq!(moved, events.len());
        events
    }

    pub(crate) fn drain_into(&self, mut sink: impl FnMut(T)) -> usize {
        // SAFETY: each model has one consumer.
        unsafe { self.cross().drain(|Event(event)| sink(event)) }
    }

    pub(crate) fn drain_up_to(&self, max: usize, mut sink: impl FnMut(T)) -> bool {
        // SAFETY: as in `drain`.
        unsafe { self.cross().drain_up_to(max, |Event(event)| sink(event)) }
    }

    pub(crate) fn pop(&self) -> Option<T> {
        // SAFETY: as in `drain`.
        unsafe { self.cross().pop() }.map(|Event(event)| event)
    }

    pub(crate) fn shrink(&self) -> bool {
        // SAFETY: as in `drain`.
        unsafe { self.cross().shrink() }
    }

    pub(crate) fn reopen(&self) -> Result<u32, ReopenError> {
        // SAFETY: as in `drain`.
        unsafe { self.cross().reopen() }
    }

    pub(crate) fn close(&self) {
        self.cross().close();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cross().is_empty()
    }
}

/// Starts a thread that pushes `events`.
pub(crate) fn producer<I, const CAP: usize>(
    queue: &Arc<Queue<I::Item, CAP>>,
    events: I,
) -> JoinHandle<()>
where
    I: IntoIterator + 'static,
{
    let queue = queue.clone();
    thread::spawn(move || {
        for event in events {
            assert!(queue.push(event).is_ok(), "nobody closes the queue");
        }
    })
}

/// Starts a producer of one event, which may stall at any point. Says whether it has claimed its
/// slot by now, if no other thread pushes.
pub(crate) fn stalled_producer<I, const CAP: usize>(
    queue: &Arc<Queue<I::Item, CAP>>,
    event: I,
) -> (JoinHandle<()>, bool)
where
    I: IntoIterator + 'static,
{
    let stalled = producer(queue, event);
    (stalled, !queue.is_empty())
}

/// Behind a stalled producer of the event 1 this thread pushes `batches`, and drains after each;
/// then it waits for the producer, and drains once more. What the drains gave before and after the
/// wait, if the producer's slot was the first.
pub(crate) fn drain_behind_a_slot_in_flight<const CAP: usize>(
    queue: &Arc<Queue<Arc<u32>, CAP>>,
    batches: &[&[u32]],
) -> Option<(Vec<u32>, Vec<u32>)> {
    let (stalled, claimed) = stalled_producer(queue, (1..2).map(Arc::new));
    let mut early = Vec::new();
    for batch in batches {
        for event in *batch {
            queue.push(Arc::new(*event)).unwrap();
        }
        early.extend(queue.drain_numbers());
    }
    stalled.join().unwrap();
    let late = queue.drain_numbers();
    claimed.then_some((early, late))
}

/// Two producers push two events each, made of `firsts` and the numbers after them, while this
/// thread drains `times` times; then it waits for them, and drains once more.
pub(crate) fn drain_beside_two<T: 'static, const CAP: usize>(
    queue: &Arc<Queue<T, CAP>>,
    firsts: [u32; 2],
    make: fn(u32) -> T,
    times: usize,
) -> Vec<T> {
    let producers = firsts.map(|first| producer(queue, (first..first + 2).map(make)));
    let mut events = Vec::new();
    for _ in 0..times {
        events.extend(queue.drain());
    }
    for producer in producers {
        producer.join().unwrap();
    }
    events.extend(queue.drain());
    events
}

impl<const CAP: usize> Queue<Arc<u32>, CAP> {
    /// Drains as [`drain`](Self::drain) does, events whose leak loom reports.
    pub(crate) fn drain_numbers(&self) -> Vec<u32> {
        numbers(&self.drain())
    }
}

pub(crate) fn numbers(events: &[Arc<u32>]) -> Vec<u32> {
    events.iter().map(|event| **event).collect()
}

/// All orders of two producers' events, each producer's two being in order.
pub(crate) fn interleavings([a, b]: [u32; 2]) -> [Vec<u32>; 6] {
    let (a, b) = ([a, a + 1], [b, b + 1]);
    [
        vec![a[0], a[1], b[0], b[1]],
        vec![a[0], b[0], a[1], b[1]],
        vec![a[0], b[0], b[1], a[1]],
        vec![b[0], a[0], a[1], b[1]],
        vec![b[0], a[0], b[1], a[1]],
        vec![b[0], b[1], a[0], a[1]],
    ]
}
