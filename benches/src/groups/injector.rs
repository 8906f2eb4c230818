//! The global queue: pushes, and takes of one item with up to 16 more for the taker's own deque.

mod floors;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::hint::black_box;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use concurrent_queue::ConcurrentQueue;
use crossbeam_queue::SegQueue;

use self::floors::{by_rmw, by_store, push_and_deque, threads_apart};
use crate::harness::{Effort, Patience, Scenario, per_operation, time, time_together};

/// How many items a take moves besides the one that it returns.
const MORE: usize = 16;

/// Items pushed before the takes begin, on one thread.
const FILL: u64 = 1024;

/// What the scenarios need from an injector and the deque that belongs to it.
trait Injector: Sync + 'static {
    type Own;

    fn new() -> Self;
    fn own() -> Self::Own;
    fn push(&self, item: u64);
    /// By one push each, unless the queue has batches for that too.
    fn push_all(&self, items: Range<u64>) {
        for item in items {
            self.push(black_box(item));
        }
    }
    /// The oldest item; up to `MORE` others go to `own`, if the queue has batches.
    fn take(&self, own: &Self::Own) -> Option<u64>;
    fn pop_own(own: &Self::Own) -> Option<u64>;
}

impl Injector for filch_injector::Injector<u64> {
    type Own = filch_deque::Worker<u64>;

    fn new() -> Self {
        Self::new()
    }

    fn own() -> Self::Own {
        filch_deque::Worker::new()
    }

    fn push(&self, item: u64) {
        self.push(item);
    }

    fn take(&self, own: &Self::Own) -> Option<u64> {
        self.pop_batch_into(own, MORE)
    }

    fn pop_own(own: &Self::Own) -> Option<u64> {
        own.pop()
    }
}

/// The same queue, whose takers keep what they took to themselves until a thief asks.
struct IntoLazy(filch_injector::Injector<u64>);

impl Injector for IntoLazy {
    type Own = filch_deque::Worker<u64, filch_deque::Lazy>;

    fn new() -> Self {
        Self(filch_injector::Injector::new())
    }

    fn own() -> Self::Own {
        filch_deque::Worker::lazy(64)
    }

    fn push(&self, item: u64) {
        self.0.push(item);
    }

    fn take(&self, own: &Self::Own) -> Option<u64> {
        self.0.pop_batch_into(own, MORE)
    }

    fn pop_own(own: &Self::Own) -> Option<u64> {
        own.pop()
    }
}

/// The same queue, whose producers have `MORE` items at a time.
struct InBatches(Filch);

impl Injector for InBatches {
    type Own = filch_deque::Worker<u64>;

    fn new() -> Self {
        Self(Filch::new())
    }

    fn own() -> Self::Own {
        filch_deque::Worker::new()
    }

    fn push(&self, item: u64) {
        self.0.push(item);
    }

    fn push_all(&self, items: Range<u64>) {
        for first in items.clone().step_by(MORE) {
            let batch = first..items.end.min(first + MORE as u64);
            self.0.push_batch(batch.map(black_box));
        }
    }

    fn take(&self, own: &Self::Own) -> Option<u64> {
        self.0.pop_batch_into(own, MORE)
    }

    fn pop_own(own: &Self::Own) -> Option<u64> {
        own.pop()
    }
}

impl Injector for crossbeam_deque::Injector<u64> {
    type Own = crossbeam_deque::Worker<u64>;

    fn new() -> Self {
        Self::new()
    }

    fn own() -> Self::Own {
        crossbeam_deque::Worker::new_lifo()
    }

    fn push(&self, item: u64) {
        self.push(item);
    }

    fn take(&self, own: &Self::Own) -> Option<u64> {
        loop {
            match self.steal_batch_with_limit_and_pop(own, MORE + 1) {
                crossbeam_deque::Steal::Success(item) => return Some(item),
                crossbeam_deque::Steal::Empty => return None,
                crossbeam_deque::Steal::Retry => std::hint::spin_loop(),
            }
        }
    }

    fn pop_own(own: &Self::Own) -> Option<u64> {
        own.pop()
    }
}

/// For reference: a queue without batches, whose taker has no deque.
impl Injector for SegQueue<u64> {
    type Own = ();

    fn new() -> Self {
        Self::new()
    }

    fn own() {}

    fn push(&self, item: u64) {
        self.push(item);
    }

    fn take(&self, (): &()) -> Option<u64> {
        self.pop()
    }

    fn pop_own((): &()) -> Option<u64> {
        None
    }
}

/// For reference, likewise.
impl Injector for ConcurrentQueue<u64> {
    type Own = ();

    fn new() -> Self {
        Self::unbounded()
    }

    fn own() {}

    fn push(&self, item: u64) {
        self.push(item).expect("nobody closes it");
    }

    fn take(&self, (): &()) -> Option<u64> {
        self.pop().ok()
    }

    fn pop_own((): &()) -> Option<u64> {
        None
    }
}

/// For reference: batches under a lock, for a taker who shares with nobody.
impl Injector for Mutex<VecDeque<u64>> {
    type Own = RefCell<Vec<u64>>;

    fn new() -> Self {
        Self::default()
    }

    fn own() -> Self::Own {
        RefCell::default()
    }

    fn push(&self, item: u64) {
        self.lock().expect("nobody panics").push_back(item);
    }

    fn take(&self, own: &Self::Own) -> Option<u64> {
        let mut queue = self.lock().expect("nobody panics");
        let first = queue.pop_front()?;
        let more = queue.len().min(MORE);
        own.borrow_mut().extend(queue.drain(..more));
        Some(first)
    }

    fn pop_own(own: &Self::Own) -> Option<u64> {
        own.borrow_mut().pop()
    }
}

type Filch = filch_injector::Injector<u64>;
type Crossbeam = crossbeam_deque::Injector<u64>;
type Locked = Mutex<VecDeque<u64>>;

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let fills = effort.operations(1_000);
    let each = effort.operations(500_000);
    vec![
        Scenario::new("push + batch take, 1 thread", "ns per item")
            .contender("filch-injector", one_thread::<Filch>(fills))
            .contender("filch-injector, lazy deque", one_thread::<IntoLazy>(fills))
            .contender(
                "filch-injector, pushes of 16",
                one_thread::<InBatches>(fills),
            )
            .contender("crossbeam Injector", one_thread::<Crossbeam>(fills))
            .contender("crossbeam SegQueue", one_thread::<SegQueue<u64>>(fills))
            .contender(
                "concurrent-queue",
                one_thread::<ConcurrentQueue<u64>>(fills),
            )
            .contender("Mutex<VecDeque>", one_thread::<Locked>(fills))
            .floor("2 RMWs and the strict deque", push_and_deque(fills, by_rmw))
            .floor(
                "1 RMW and the strict deque",
                push_and_deque(fills, by_store),
            ),
        Scenario::new("1 producer, 1 consumer", "ns per item")
            .contender("filch-injector", threads::<Filch>(1, each))
            .contender("filch-injector, lazy deque", threads::<IntoLazy>(1, each))
            .contender(
                "filch-injector, pushes of 16",
                threads::<InBatches>(1, each),
            )
            .contender("crossbeam Injector", threads::<Crossbeam>(1, each))
            .contender("crossbeam SegQueue", threads::<SegQueue<u64>>(1, each))
            .contender("concurrent-queue", threads::<ConcurrentQueue<u64>>(1, each))
            .contender("Mutex<VecDeque>", threads::<Locked>(1, each))
            .floor("2 RMWs a push, all apart", threads_apart(1, each, by_rmw)),
        Scenario::new("2 producers, 2 consumers", "ns per item")
            .contender("filch-injector", threads::<Filch>(2, each))
            .contender("filch-injector, lazy deque", threads::<IntoLazy>(2, each))
            .contender(
                "filch-injector, pushes of 16",
                threads::<InBatches>(2, each),
            )
            .contender("crossbeam Injector", threads::<Crossbeam>(2, each))
            .contender("crossbeam SegQueue", threads::<SegQueue<u64>>(2, each))
            .contender("concurrent-queue", threads::<ConcurrentQueue<u64>>(2, each))
            .contender("Mutex<VecDeque>", threads::<Locked>(2, each))
            .floor("2 RMWs a push, all apart", threads_apart(2, each, by_rmw)),
    ]
}

/// Takes once, and empties the taker's own deque; returns how many items that were, and their sum.
fn take_and_consume<I: Injector>(injector: &I, own: &I::Own) -> (u64, u64) {
    let Some(first) = injector.take(own) else {
        return (0, 0);
    };
    let rest = std::iter::from_fn(|| I::pop_own(own));
    rest.fold((1, first), |(taken, sum), item| (taken + 1, sum + item))
}

fn one_thread<I: Injector>(fills: u64) -> impl FnMut() -> f64 {
    let injector = I::new();
    let own = I::own();
    move || {
        let elapsed = time(|| {
            for _ in 0..fills {
                injector.push_all(0..FILL);
                let mut left = FILL;
                while left > 0 {
                    let (taken, sum) = take_and_consume(&injector, &own);
                    black_box(sum);
                    assert!(taken > 0, "items went missing");
                    left -= taken;
                }
            }
        });
        per_operation(elapsed, fills * FILL)
    }
}

/// `pairs` producers and as many consumers. A new queue each round: what an earlier round left
/// allocated would favour whoever keeps it.
fn threads<I: Injector>(pairs: u64, items_each: u64) -> impl FnMut() -> f64 {
    move || {
        let injector = &I::new();
        let total = pairs * items_each;
        let consumed = &AtomicU64::new(0);
        let sum_of_all = &AtomicU64::new(0);
        let produce = move || {
            injector.push_all(0..items_each);
        };
        let consume = move || {
            let own = I::own();
            let mut patience = Patience::default();
            let mut sum_of_own = 0;
            while consumed.load(Ordering::Relaxed) < total {
                let (taken, sum) = take_and_consume(injector, &own);
                if taken == 0 {
                    patience.wait();
                } else {
                    consumed.fetch_add(taken, Ordering::Relaxed);
                    sum_of_own += sum;
                    patience.found(taken);
                }
            }
            sum_of_all.fetch_add(sum_of_own, Ordering::Relaxed);
        };
        let mut tasks: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
        for _ in 0..pairs {
            tasks.push(Box::new(produce));
            tasks.push(Box::new(consume));
        }
        let elapsed = time_together(tasks);
        let expected = pairs * (items_each * (items_each - 1) / 2);
        assert_eq!(sum_of_all.load(Ordering::Relaxed), expected);
        per_operation(elapsed, total)
    }
}
