//! Promises to a user: order, identity, ownership.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use filch_deque::Worker;
use filch_injector::Injector;
use proptest::prelude::*;

/// A queue whose blocks end often.
type Short<T> = Injector<T, 3>;

#[test]
fn a_new_queue_is_empty() {
    let queue = Injector::<u32>::default();
    assert!(queue.is_empty());
    assert_eq!((queue.len(), queue.pop()), (0, None));
}

#[test]
fn a_batch_is_in_order_and_ends_with_its_block() {
    let queue = Short::with_blocks();
    (0..8).for_each(|number| queue.push(number));
    let mut rest = Vec::new();
    assert_eq!(queue.pop_batch(1, |number| rest.push(number)), Some(0));
    assert_eq!(
        queue.pop_batch(usize::MAX, |number| rest.push(number)),
        Some(2)
    );
    assert_eq!(
        queue.pop_batch(usize::MAX, |number| rest.push(number)),
        Some(3)
    );
    assert_eq!(rest, [1, 4, 5]);
    assert_eq!(queue.len(), 2);
}

#[test]
fn a5_a_batch_into_a_deque_is_stolen_in_order() {
    let queue = Injector::new();
    (0..20).for_each(|number| queue.push(number));
    let own = Worker::new();
    assert_eq!(queue.pop_batch_into(&own, 3), Some(0));
    assert!(matches!(
        own.stealer().steal(),
        filch_deque::Steal::Success(1)
    ));
    assert_eq!((own.pop(), own.pop(), own.pop()), (Some(3), Some(2), None));
    assert_eq!(queue.pop(), Some(4));
}

#[test]
fn the_sink_may_push_to_the_queue() {
    let queue = Short::with_blocks();
    (0..3).for_each(|number| queue.push(number));
    assert_eq!(
        queue.pop_batch(2, |number| queue.push(number + 10)),
        Some(0)
    );
    assert_eq!(
        std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>(),
        [11, 12]
    );
}

#[test]
fn a_panicking_sink_loses_no_more_than_its_batch() {
    let witness = Arc::new(());
    let queue = Short::with_blocks();
    (0..6).for_each(|number| queue.push((number, Arc::clone(&witness))));
    let refuse = |_| panic!("refused");
    catch_unwind(AssertUnwindSafe(|| queue.pop_batch(2, refuse))).unwrap_err();
    assert_eq!(
        Arc::strong_count(&witness),
        4,
        "the batch of three is dropped"
    );
    assert_eq!(queue.pop().map(|(number, _)| number), Some(3));
}

#[test]
fn items_that_are_left_are_dropped_once() {
    struct Counted<'a>(&'a AtomicUsize);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    for pushed in 0..10 {
        for popped in 0..=pushed {
            let drops = AtomicUsize::new(0);
            let queue = Short::with_blocks();
            (0..pushed).for_each(|_| queue.push(Counted(&drops)));
            (0..popped).for_each(|_| drop(queue.pop()));
            assert_eq!(drops.load(Ordering::Relaxed), popped);
            drop(queue);
            assert_eq!(drops.load(Ordering::Relaxed), pushed);
        }
    }
}

#[test]
fn a_batch_whose_iterator_panics_is_there_as_far_as_it_came() {
    let queue = Injector::new();
    let items = [1, 2, 0, 4].map(|number| move || 12 / number);
    let caught = catch_unwind(AssertUnwindSafe(|| {
        queue.push_batch(items.iter().map(|item| item()));
    }));
    assert!(caught.is_err());
    queue.push(7);
    let all: Vec<i32> = std::iter::from_fn(|| queue.pop()).collect();
    assert_eq!(all, [12, 6, 7]);
    assert!(queue.is_empty());
}

#[test]
fn items_without_size_are_counted() {
    let queue = Short::with_blocks();
    (0..10).for_each(|_| queue.push(()));
    assert_eq!(std::iter::from_fn(|| queue.pop()).count(), 10);
}

/// Of a script.
const MOST_STEPS: usize = if cfg!(miri) { 30 } else { 300 };

proptest! {
    /// Compares with a `VecDeque`: the same items in the same order, the same length, `None`
    /// exactly when empty. A batch is a prefix of the queue, empty only if the queue is, and at
    /// most as long as asked for. Pushes come in runs, in one call or in one each.
    #[test]
    fn behaves_like_a_deque(script in prop::collection::vec((0_usize..5, 0..3), 0..MOST_STEPS)) {
        let queue = Short::with_blocks();
        let mut model = VecDeque::new();
        for (number, step) in script.into_iter().enumerate() {
            match step {
                (0, 0 | 1) => {
                    queue.push(Box::new(number));
                    model.push_back(number);
                }
                (many, 0) => {
                    queue.push_batch(std::iter::repeat_with(|| Box::new(number)).take(many));
                    model.extend(std::iter::repeat_n(number, many));
                }
                (more, _) => {
                    let mut batch = Vec::new();
                    let first = queue.pop_batch(more, |item| batch.push(*item));
                    prop_assert_eq!(first.map(|item| *item), model.pop_front());
                    prop_assert!(batch.len() <= more);
                    for item in batch {
                        prop_assert_eq!(Some(item), model.pop_front());
                    }
                }
            }
            prop_assert_eq!(queue.len(), model.len());
            prop_assert_eq!(queue.is_empty(), model.is_empty());
        }
    }
}

/// Two producers, one of batches, and three consumers with batches of different sizes. Each item
/// arrives exactly once, and each consumer sees each producer's items in the order in which they
/// were pushed.
fn stress<const BLOCK: usize>(queue: &Injector<Box<(usize, usize)>, BLOCK>, each: usize) {
    const PRODUCERS: usize = 2;
    let each = if cfg!(miri) { 50 } else { each };
    let arrivals: Vec<AtomicU32> = (0..PRODUCERS * each).map(|_| AtomicU32::new(0)).collect();
    let missing = AtomicUsize::new(PRODUCERS * each);
    let start = Barrier::new(PRODUCERS + 3);
    std::thread::scope(|scope| {
        for producer in 0..PRODUCERS {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                let item = |number| Box::new((producer, number));
                if producer == 0 {
                    (0..each).for_each(|number| queue.push(item(number)));
                } else {
                    for from in (0..each).step_by(7) {
                        queue.push_batch((from..each.min(from + 7)).map(item));
                    }
                }
            });
        }
        for more in [0, 3, 16] {
            let (start, arrivals, missing) = (&start, &arrivals, &missing);
            scope.spawn(move || {
                let mut latest = [None; PRODUCERS];
                let mut arrive = |item: Box<(usize, usize)>| {
                    let (producer, number) = *item;
                    assert!(latest[producer] < Some(number), "out of order");
                    latest[producer] = Some(number);
                    let before = arrivals[producer * each + number].fetch_add(1, Ordering::Relaxed);
                    assert_eq!(before, 0, "an item arrived twice");
                    missing.fetch_sub(1, Ordering::Relaxed);
                };
                start.wait();
                let mut rest = Vec::new();
                while missing.load(Ordering::Relaxed) > 0 {
                    match queue.pop_batch(more, |item| rest.push(item)) {
                        Some(first) => {
                            arrive(first);
                            rest.drain(..).for_each(&mut arrive);
                        }
                        None => std::thread::yield_now(),
                    }
                }
            });
        }
    });
    assert!(
        arrivals
            .iter()
            .all(|count| count.load(Ordering::Relaxed) == 1)
    );
    assert!(queue.is_empty());
}

#[test]
fn every_item_arrives_once_and_in_order() {
    stress(&Injector::new(), 100_000);
}

#[test]
fn every_item_arrives_once_and_in_order_over_the_shortest_blocks() {
    stress::<1>(&Injector::with_blocks(), 30_000);
    stress::<2>(&Injector::with_blocks(), 30_000);
}

#[test]
fn every_item_arrives_once_and_in_order_where_nobody_waits() {
    stress::<31>(&Injector::with_backoff(0), 100_000);
    stress::<2>(&Injector::with_backoff(0), 30_000);
}

#[test]
fn a_destructor_that_panics_spares_the_other_items() {
    struct Item<'a>(u32, &'a AtomicUsize);
    impl Drop for Item<'_> {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::Relaxed);
            assert!(self.0 != 2, "the third item's destructor panics");
        }
    }
    let dropped = AtomicUsize::new(0);
    let queue = Injector::<_, 4>::with_blocks();
    (0..10).for_each(|number| queue.push(Item(number, &dropped)));
    assert!(catch_unwind(AssertUnwindSafe(|| drop(queue))).is_err());
    assert_eq!(dropped.load(Ordering::Relaxed), 10);
}
