//! The injector: recorded histories of real threads are those of a FIFO queue in which each push,
//! each take and each batch has one moment.

use filch_injector::Injector;
use linearizability::{Clocks, Fifo, FifoOperation, History, Recording, Rounds};

type Operation = FifoOperation<u32>;

fn take<const BLOCK: usize>(queue: &Injector<u32, BLOCK>, more: usize) -> [Operation; 1] {
    let mut rest = Vec::new();
    let first = queue.pop_batch(more, |item| rest.push(item));
    [Operation::Take {
        max: more + 1,
        items: first.into_iter().chain(rest).collect(),
    }]
}

/// Two producers of four items, one in batches of two; a consumer of single items and one of
/// batches; then the rest is taken, so that a lost item is noticed. With blocks of one slot, every
/// push and batch crosses a block. Slots are abandoned without backoff, and hardly ever with it.
fn record<const BLOCK: usize>(clocks: Clocks, backs_off: bool) -> History<Operation> {
    let queue = &if backs_off {
        Injector::<u32, BLOCK>::with_blocks()
    } else {
        Injector::with_backoff(0)
    };
    let mut recording = Recording::new(clocks);
    recording.thread(move |log| {
        for item in 10..14 {
            log.call(|| {
                queue.push(item);
                [Operation::Push(item)]
            });
        }
    });
    recording.thread(move |log| {
        for first in [20, 22] {
            let items = [first, first + 1];
            log.call(|| {
                queue.push_batch(items);
                items.map(Operation::Push)
            });
        }
    });
    for more in [0, 2] {
        recording.thread(move |log| {
            for _ in 0..4 {
                log.call(|| take(queue, more));
            }
        });
    }
    recording.closing(|log| {
        for _ in 0..9 {
            log.call(|| take(queue, 0));
        }
    });
    recording.run()
}

fn check<const BLOCK: usize>() {
    for backs_off in [false, true] {
        Rounds::check(200, &Fifo::new(), |clocks| {
            record::<BLOCK>(clocks, backs_off)
        });
    }
}

#[test]
fn a_block_per_item() {
    check::<1>();
}

#[test]
fn two_items_to_a_block() {
    check::<2>();
}

#[test]
fn the_usual_block() {
    check::<31>();
}
