//! The tours: each page of `docs/tour` walks through a few stages, and each stage is a model here
//! that holds, or one that the checker must refute. So is the answer to each exercise. A module
//! says in its first line to which page it belongs.

mod chase_lev;
mod epochs;
mod locked;
mod private;
mod queue_lists;
mod queue_sleep;
mod queue_slots;
mod sleep_flag;
mod sleep_grant;
mod sleep_idle;
mod sleep_parker;
mod state_end;
mod state_flag;
mod state_word;

use filch_models::tell;
use filch_sync::Arc;
use filch_sync::cell::UnsafeCell;

/// Plain memory, which loom watches: it fails a model that has a data race on it.
struct Plain<T>(UnsafeCell<T>);

impl<T: Copy> Plain<T> {
    fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    fn get(&self) -> T {
        // SAFETY: loom checks that no thread writes at the same time, which is what the models are
        // about.
        self.0.with(|value| unsafe { *value })
    }

    fn set(&self, value: T) {
        // SAFETY: as above: no other thread has access.
        self.0.with_mut(|place| unsafe { *place = value });
    }
}

/// Panics unless the items `0..count` are in `takes`, each once.
pub(crate) fn assert_each_once(count: u32, takes: impl IntoIterator<Item = u32>) {
    let mut takers = vec![0; count as usize];
    for item in takes {
        takers[item as usize] += 1;
    }
    assert!(takers.iter().all(|&n| n <= 1), "an item handed out twice");
    assert!(takers.iter().all(|&n| n == 1), "an item lost");
}

/// One thread pushes event 1 and tells another one, which pushes event 2, while the consumer
/// drains; and then drains what is left. Each event comes once, and 2 never before 1.
fn told_pushes<Q: 'static>(queue: Arc<Q>, push: fn(&Q, usize), drain: fn(&Q) -> Vec<usize>) {
    let shared = (queue, push);
    let (first, second) = tell(
        &shared,
        |(queue, push)| push(queue, 1),
        |(queue, push)| push(queue, 2),
    );
    let mut events = drain(&shared.0);
    first.join().unwrap();
    let is_told = second.join().unwrap();
    events.extend(drain(&shared.0));
    assert_ne!(events[0], 2, "overtaken");
    assert_eq!(events.len(), 1 + usize::from(is_told), "an event lost");
}
