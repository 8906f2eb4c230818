//! The global queue: pushes, and takes of one item with up to 16 more for the taker's own deque.

mod contenders;

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_queue::SegQueue;
use crossbeam_utils::CachePadded;

use self::contenders::{Crossbeam, Filch, Injector, Locked};
use crate::clock::{Backoff, cost, per_operation, time_together};
use crate::harness::Scenario;
use crate::work::those_or;

/// The items that a take moves besides the one that it returns.
const MORE: usize = 16;

/// Items pushed before the takes begin, on one thread.
const FILL: u64 = 1024;

macro_rules! scenario {
    ($name:expr, $round:ident($($argument:expr),*)) => {
        Scenario::new($name, "ns per item")
            .contender("filch-injector", $round::<Filch<false>>($($argument),*))
            .contender("filch-injector, pushes of 16", $round::<Filch<true>>($($argument),*))
            .contender("crossbeam Injector", $round::<Crossbeam>($($argument),*))
            .contender("crossbeam SegQueue", $round::<SegQueue<u64>>($($argument),*))
            .contender("Mutex<VecDeque>", $round::<Locked>($($argument),*))
    };
}

pub(crate) fn scenarios() -> Vec<Scenario> {
    let fills = 125;
    let alone = scenario!("push + batch take, 1 thread", one_thread(fills))
        .floor("2 RMWs and the shared deque", push_and_deque(fills));
    // As many producers as workers, and as many consumers.
    let together = those_or(&[1, 2]).into_iter().map(|workers| {
        let pairs = workers as u64;
        let each = 62_500 / pairs.div_ceil(2);
        let s = if pairs == 1 { "" } else { "s" };
        scenario!(
            format!("{pairs} producer{s}, {pairs} consumer{s}"),
            threads(pairs, each)
        )
        .floor("2 RMWs a push, all apart", threads_apart(pairs, each))
    });
    [alone].into_iter().chain(together).collect()
}

/// Takes once, and empties the taker's own deque; returns how many items there were, and their sum.
fn take_and_consume<I: Injector>(injector: &I, own: &I::Own) -> (u64, u64) {
    let Some(first) = injector.take(own) else {
        return (0, 0);
    };
    let rest = std::iter::from_fn(|| I::pop(own));
    rest.fold((1, first), |(taken, sum), item| (taken + 1, sum + item))
}

fn one_thread<I: Injector>(fills: u64) -> impl FnMut() -> f64 {
    let injector = I::new();
    let own = I::own();
    move || {
        cost(fills * FILL, || {
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
        })
    }
}

/// `pairs` producers and as many consumers. A new queue each round: memory that an earlier round
/// left would favour a queue that keeps it.
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
            let mut backoff = Backoff::default();
            let mut sum_of_own = 0;
            while consumed.load(Ordering::Relaxed) < total {
                let (taken, sum) = take_and_consume(injector, &own);
                if taken == 0 {
                    backoff.wait();
                } else {
                    consumed.fetch_add(taken, Ordering::Relaxed);
                    sum_of_own += sum;
                    backoff.found(taken);
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

/// A push that claims by an RMW and hands over by another, as a producer does whose slot may be
/// abandoned meanwhile; and the taker's deque; no queue.
pub(super) fn push_and_deque(fills: u64) -> impl FnMut() -> f64 {
    let (claims, state) = (AtomicU64::new(0), AtomicU64::new(0));
    let own = filch_deque::Worker::new();
    move || {
        cost(fills * FILL, || {
            for _ in 0..fills {
                push_without_queue(&claims, &state, FILL);
                deal_to_own(&own, FILL);
            }
        })
    }
}

/// The same on threads that share nothing: the work that is left when sharing is free.
pub(super) fn threads_apart(pairs: u64, items_each: u64) -> impl FnMut() -> f64 {
    move || {
        let mut tasks: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
        for _ in 0..pairs {
            tasks.push(Box::new(move || {
                let words = CachePadded::new((AtomicU64::new(0), AtomicU64::new(0)));
                push_without_queue(&words.0, &words.1, items_each);
            }));
            tasks.push(Box::new(move || {
                deal_to_own(&filch_deque::Worker::new(), items_each);
            }));
        }
        per_operation(time_together(tasks), pairs * items_each)
    }
}

fn push_without_queue(claims: &AtomicU64, state: &AtomicU64, items: u64) {
    for _ in 0..items {
        black_box(claims.fetch_add(1, Ordering::AcqRel));
        black_box(state.swap(1, Ordering::AcqRel));
    }
}

fn deal_to_own(own: &filch_deque::Worker<u64>, items: u64) {
    for batch in 0..items / (MORE as u64 + 1) {
        own.push_batch(batch..batch + MORE as u64);
        while let Some(item) = own.pop() {
            black_box(item);
        }
    }
}
