//! A producer and a consumer, forked together, with a channel between them that is usually full or
//! empty.

use std::collections::VecDeque;

use filch_fork_join::Worker;
use shuttle::sync::{Condvar, Mutex};

use super::{explore_sizes, fork_small_jobs, on_pool, pause};

/// The number of items that go through a channel.
const ITEMS: usize = 3;

/// A channel with room for one item.
#[derive(Default)]
struct Channel {
    items: Mutex<VecDeque<usize>>,
    changed: Condvar,
}

impl Channel {
    fn send(&self, item: usize) {
        let items = self.items.lock().unwrap();
        let mut items = (self.changed)
            .wait_while(items, |items| !items.is_empty())
            .unwrap();
        items.push_back(item);
        self.changed.notify_all();
    }

    fn receive(&self) -> usize {
        let items = self.items.lock().unwrap();
        let mut items = (self.changed)
            .wait_while(items, |items| items.is_empty())
            .unwrap();
        let item = items.pop_front().unwrap();
        self.changed.notify_all();
        item
    }
}

/// Runs that many pipelines, in a tree, and returns how many items came out.
fn pipelines(worker: &Worker, count: usize) -> usize {
    if count > 1 {
        let half = count / 2;
        let (a, b) = worker.join(|w| pipelines(w, half), |w| pipelines(w, count - half));
        return a + b;
    }
    let channel = Channel::default();
    let consumer = |_: &Worker| {
        let order = (0..ITEMS).all(|item| channel.receive() == item);
        assert!(order, "each item comes once, in order");
        ITEMS
    };
    // Usually, others sleep by then.
    pause();
    let producer = |_: &Worker| (0..ITEMS).for_each(|item| channel.send(item));
    worker.join(producer, consumer).1
}

/// One pipeline less than threads. Once both ends of a pipeline have begun, at most one of them
/// sleeps at a time: so a thread is left for the next consumer, as long as all are in reach. A
/// failure is a deadlock: a producer sleeps, its channel full, and its consumer is in its deque, of
/// which no other thread knows.
#[test]
fn pipelines_end() {
    let claim = "pipelines get by with a thread each, and one more";
    explore_sizes(claim, |threads| {
        let came = on_pool(threads, |worker| {
            fork_small_jobs(worker, 5);
            pipelines(worker, threads - 1)
        });
        assert_eq!(came, ITEMS * (threads - 1));
    });
}
