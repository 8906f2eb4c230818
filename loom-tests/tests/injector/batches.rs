//! Batches that are pushed: their order, and the places that they abandon.

use filch_injector::Injector;
use filch_models::{Bound, Crossing};
use filch_sync::thread;
use loom::alloc::Track;

use super::tracked::{
    Queue, assert_delivered, drain, pop, pop_batch, producer, queue, take_beside,
};

/// Gives `items`, having promised `promised` in all.
struct Promise {
    items: std::slice::Iter<'static, u32>,
    promised: usize,
}

impl Iterator for Promise {
    type Item = Track<u32>;

    fn next(&mut self) -> Option<Track<u32>> {
        self.promised = self.promised.saturating_sub(1);
        self.items.next().map(|&item| Track::new(item))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.promised, None)
    }
}

fn push_batch<const BLOCK: usize>(
    queue: &Injector<Track<u32>, BLOCK>,
    items: &'static [u32],
    promised: usize,
) {
    queue.push_batch(Promise {
        items: items.iter(),
        promised,
    });
}

/// Starts a thread that pushes `items` as a batch.
fn batch_producer<const BLOCK: usize>(
    queue: &Queue<BLOCK>,
    crossing: &Crossing,
    items: &'static [u32],
    promised: usize,
) -> thread::JoinHandle<()> {
    let (queue, crossing) = (queue.clone(), crossing.clone());
    thread::spawn(move || {
        crossing.pass();
        push_batch(&queue, items, promised);
    })
}

/// Threads: main takes, and may abandon what it finds claimed; a producer pushes a batch of three
/// into a block of three. An item whose slot was abandoned goes to the next block, and so must
/// those after it, whose slots the batch has too. A failure: an item that was overtaken by a later
/// one of its batch, or lost, or a slot that two threads have finished.
#[test]
fn an_abandoned_batch_keeps_its_order() {
    Bound::preemptions(3, 1_500)
        .outcomes("a batch is in order", || {
            let queue = queue::<3>([]);
            let crossing = Crossing::new();
            let producer = batch_producer(&queue, &crossing, &[10, 11, 12], 3);
            crossing.pass();
            let own = [(); 2].map(|()| pop(&queue));
            producer.join().unwrap();
            let block = pop_batch(&queue, 2);
            let rest = drain(&queue);
            let all: Vec<u32> = own.into_iter().flatten().chain(block.clone()).collect();
            assert_eq!([all, rest.clone()].concat(), [10, 11, 12]);
            (own, block, rest)
        })
        .assert_reached([
            ([None, None], vec![10, 11, 12], vec![]),
            ([Some(10), None], vec![11, 12], vec![]),
            ([Some(10), Some(11)], vec![12], vec![]),
        ]);
}

/// Threads: main takes; a producer pushes a batch that has promised two items and has one, over
/// blocks of two; another pushes behind it. Consumer and producer both abandon the place without an
/// item, in either order, and the second of them finishes it, for the block to be used again. A
/// failure: a slot that was finished twice (an assertion in the crate), a block that is recycled
/// while a thread uses it, an item lost.
#[test]
fn an_abandoned_place_is_finished_once() {
    Bound::preemptions(2, 8_500).check("a place without an item is passed", || {
        let queue = queue::<2>([]);
        let crossing = Crossing::new();
        let producers = [
            batch_producer(&queue, &crossing, &[10], 2),
            producer(&queue, &crossing, &[20, 21]),
        ];
        let got = take_beside(&queue, &crossing, 2, producers);
        assert_delivered(&[10, 20, 21], &[&got]);
        assert!(queue.is_empty());
    });
}

/// Threads: two producers push a batch of two each, over blocks of three, and main takes twice. One
/// claim is for two slots, or for the one that the block has left. A failure: two items in one
/// slot, or one out of its batch's order.
#[test]
fn two_batches_share_a_block() {
    Bound::preemptions(2, 11_000).check("batches claim disjoint runs", || {
        let queue = queue::<3>([]);
        let crossing = Crossing::new();
        let producers = [
            batch_producer(&queue, &crossing, &[10, 11], 2),
            batch_producer(&queue, &crossing, &[20, 21], 2),
        ];
        let got = take_beside(&queue, &crossing, 2, producers);
        assert_delivered(&[10, 11, 20, 21], &[&got]);
    });
}

/// Threads: a producer pushes a batch that has fewer items than it promised; main takes once; then
/// the queue is dropped with what is in it, behind a place without an item. A failure: a leak, or a
/// drop that never ends.
#[test]
fn a_queue_with_abandoned_places_is_dropped() {
    Bound::exhaustive(15_000).check("a drop passes places without items", || {
        let queue = queue::<3>([]);
        let crossing = Crossing::new();
        let producer = batch_producer(&queue, &crossing, &[10], 3);
        crossing.pass();
        let first = pop(&queue);
        producer.join().unwrap();
        queue.push(Track::new(20));
        assert!(first.is_none_or(|item| item == 10));
    });
}
