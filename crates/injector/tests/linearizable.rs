//! Recorded histories of real threads are those of a FIFO queue in which each push, each take and
//! each batch has one moment.

use filch_injector::Injector;
use linearizability::{Fifo, FifoOperation, History, Recording, Rounds};

type Operation = FifoOperation<u32>;

fn take<const BLOCK: usize>(queue: &Injector<u32, BLOCK>, more: usize) -> [Operation; 1] {
    let mut rest = Vec::new();
    let first = queue.pop_batch(more, |item| rest.push(item));
    [Operation::Take {
        most: more + 1,
        items: first.into_iter().chain(rest).collect(),
    }]
}

/// Two producers of four items, one in batches of two; a consumer of single items and one of
/// batches; then what is left is taken, so that a lost item is missed. Blocks of `BLOCK` slots: at
/// 1, every push and every batch crosses a block. Without patience slots are burnt, with it hardly
/// ever.
fn record<const BLOCK: usize>(with_one_clock: bool, is_patient: bool) -> History<Operation> {
    let queue = &if is_patient {
        Injector::<u32, BLOCK>::with_blocks()
    } else {
        Injector::with_patience(0)
    };
    let mut recording = if with_one_clock {
        Recording::with_one_clock()
    } else {
        Recording::new()
    };
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
    for (with_one_clock, is_patient) in [(false, false), (false, true), (true, false), (true, true)]
    {
        Rounds::check(200, &Fifo::new(), || {
            record::<BLOCK>(with_one_clock, is_patient)
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
