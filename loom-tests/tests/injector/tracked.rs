//! The queue in the injector's models, and checks of what it delivers.
//!
//! Items are loom's `Track`: a lost or forgotten one fails the execution as a leak.

use filch_injector::Injector;
use filch_models::Crossing;
use filch_sync::{Arc, thread};
use loom::alloc::Track;

pub(crate) type Queue<const BLOCK: usize> = Arc<Injector<Track<u32>, BLOCK>>;

/// Makes a queue without backoff: a consumer abandons each slot that is claimed and not filled.
pub(crate) fn queue<const BLOCK: usize>(items: impl IntoIterator<Item = u32>) -> Queue<BLOCK> {
    queue_with_backoff(0, items)
}

/// Makes a queue whose operations wait for at most `pauses` pauses.
pub(crate) fn queue_with_backoff<const BLOCK: usize>(
    pauses: u32,
    items: impl IntoIterator<Item = u32>,
) -> Queue<BLOCK> {
    let queue = Injector::with_backoff(pauses);
    for item in items {
        queue.push(Track::new(item));
    }
    Arc::new(queue)
}

pub(crate) fn pop<const BLOCK: usize>(queue: &Injector<Track<u32>, BLOCK>) -> Option<u32> {
    queue.pop().map(Track::into_inner)
}

pub(crate) fn drain<const BLOCK: usize>(queue: &Injector<Track<u32>, BLOCK>) -> Vec<u32> {
    std::iter::from_fn(|| pop(queue)).collect()
}

/// Takes a batch, the returned item first.
pub(crate) fn pop_batch<const BLOCK: usize>(
    queue: &Injector<Track<u32>, BLOCK>,
    more: usize,
) -> Vec<u32> {
    let mut rest = Vec::new();
    let first = queue.pop_batch(more, |item| rest.push(item.into_inner()));
    first
        .into_iter()
        .map(Track::into_inner)
        .chain(rest)
        .collect()
}

/// Starts a thread that pushes `items`, passing `crossing` before each.
pub(crate) fn producer<const BLOCK: usize>(
    queue: &Queue<BLOCK>,
    crossing: &Crossing,
    items: &'static [u32],
) -> thread::JoinHandle<()> {
    let (queue, crossing) = (queue.clone(), crossing.clone());
    thread::spawn(move || {
        for &item in items {
            crossing.pass();
            queue.push(Track::new(item));
        }
    })
}

/// Starts a thread that passes `crossing` and calls `take`, which may pass it again.
pub(crate) fn consumer<const BLOCK: usize, R: 'static>(
    queue: &Queue<BLOCK>,
    crossing: &Crossing,
    take: impl FnOnce(&Injector<Track<u32>, BLOCK>, &Crossing) -> R + 'static,
) -> thread::JoinHandle<R> {
    let (queue, crossing) = (queue.clone(), crossing.clone());
    thread::spawn(move || {
        crossing.pass();
        take(&queue, &crossing)
    })
}

/// Takes `times` times beside `producers`, passing `crossing` before each; then waits for them, and
/// takes the rest.
pub(crate) fn take_beside<const BLOCK: usize>(
    queue: &Injector<Track<u32>, BLOCK>,
    crossing: &Crossing,
    times: usize,
    producers: impl IntoIterator<Item = thread::JoinHandle<()>>,
) -> Vec<u32> {
    let mut got = Vec::new();
    for _ in 0..times {
        crossing.pass();
        got.extend(pop(queue));
    }
    for producer in producers {
        producer.join().unwrap();
    }
    got.extend(drain(queue));
    got
}

/// Checks that each item of `sent` is in `got` exactly once, and that items of one producer (same
/// tens) that one consumer got are in order. `got` is a list per consumer.
pub(crate) fn assert_delivered(sent: &[u32], got: &[&[u32]]) {
    let mut all: Vec<u32> = got.concat();
    all.sort_unstable();
    assert_eq!(all, sent, "every item exactly once");
    for consumer in got {
        for producer in 0..10 {
            let own = consumer.iter().filter(|&&item| item / 10 == producer);
            assert!(own.is_sorted(), "out of order: {consumer:?}");
        }
    }
}
