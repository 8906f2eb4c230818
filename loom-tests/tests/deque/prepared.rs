//! What only a thief needs of an item: it is made when the item becomes public.

use filch_deque::{Steal, Worker};
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes};

/// How often it was prepared.
struct Item(UnsafeCell<u32>);

// SAFETY: the deque says who may touch it, which is what the model is about.
unsafe impl Send for Item {}
// SAFETY: as above.
unsafe impl Sync for Item {}

impl Item {
    fn prepare(&self) {
        // SAFETY: nobody else has it, or loom says so.
        self.0.with_mut(|times| unsafe { *times += 1 });
    }

    fn times(&self) -> u32 {
        // SAFETY: as above.
        self.0.with(|times| unsafe { *times })
    }
}

/// Two threads: the owner shows two items, takes one of them back, and shows it again, beside a
/// thief that tries twice. A failure: an item that a thief sees before it
/// was prepared, or that is prepared while a thief has it.
#[test]
fn an_item_is_prepared_before_it_is_stolen() {
    Outcomes::of(
        "lazy: prepared when it becomes public",
        Bound::preemptions(2, 1_000),
        || {
            let worker = Worker::lazy(4).prepared_by(|item: &Arc<Item>| item.prepare());
            let stealer = worker.stealer();
            let thief = thread::spawn(move || {
                [(); 2].map(|()| match stealer.steal() {
                    Steal::Success(item) => item.times(),
                    Steal::Empty | Steal::Retry => 0,
                })
            });
            for _ in 0..2 {
                worker.push(Arc::new(Item(UnsafeCell::new(0))));
            }
            worker.flush();
            if let Some(item) = worker.pop() {
                worker.push(item);
            }
            worker.flush();
            thief.join().unwrap()
        },
    )
    .assert_reached([[0, 0], [1, 0], [1, 1], [1, 2]]);
}
