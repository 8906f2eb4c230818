//! Recorded histories of real threads, each checked against a sequential FIFO queue by trying every order of
//! effects.

use std::collections::{HashSet, VecDeque};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use filch_injector::Injector;

#[derive(Clone, Debug)]
enum Effect {
    Push(u32),
    /// What a take with this `more` returned: nothing, if the queue was empty.
    Take(usize, Vec<u32>),
}

/// A call, its effect, its return; times are unique.
#[derive(Clone, Debug)]
struct Operation {
    called: u64,
    effect: Effect,
    returned: u64,
}

impl Effect {
    /// Whether it can happen to `queue` now; if so, it does.
    fn apply(&self, queue: &mut VecDeque<u32>) -> bool {
        match self {
            Self::Push(item) => {
                queue.push_back(*item);
                true
            }
            Self::Take(_, items) if items.is_empty() => queue.is_empty(),
            Self::Take(more, items) => {
                items.len() <= more + 1 && items.iter().all(|&item| queue.pop_front() == Some(item))
            }
        }
    }
}

/// Whether the operations not in `done` can take effect one after the other, each between its call and its return,
/// from `queue` on. `failed` has the situations that led nowhere.
fn is_linearizable(
    history: &[Operation],
    done: u32,
    queue: &VecDeque<u32>,
    failed: &mut HashSet<(u32, VecDeque<u32>)>,
) -> bool {
    let open = || (0..history.len()).filter(|&operation| done & (1 << operation) == 0);
    // Whoever takes effect next must have been called before any other one returned.
    let Some(deadline) = open().map(|operation| history[operation].returned).min() else {
        return true;
    };
    if failed.contains(&(done, queue.clone())) {
        return false;
    }
    let found = open()
        .filter(|&operation| history[operation].called < deadline)
        .any(|operation| {
            let mut after = queue.clone();
            history[operation].effect.apply(&mut after)
                && is_linearizable(history, done | (1 << operation), &after, failed)
        });
    if !found {
        failed.insert((done, queue.clone()));
    }
    found
}

fn linearizable(history: &[Operation]) -> bool {
    is_linearizable(history, 0, &VecDeque::new(), &mut HashSet::new())
}

fn operation(called: u64, effect: Effect, returned: u64) -> Operation {
    Operation {
        called,
        effect,
        returned,
    }
}

/// The checker itself: it must refuse.
#[test]
fn histories_that_no_queue_has_are_refused() {
    use Effect::{Push, Take};
    let push = |called, item, returned| operation(called, Push(item), returned);
    let take =
        |called, items: &[u32], returned| operation(called, Take(1, items.to_vec()), returned);
    assert!(linearizable(&[
        push(0, 1, 1),
        push(2, 2, 3),
        take(4, &[1, 2], 5)
    ]));
    assert!(linearizable(&[
        push(0, 1, 3),
        push(1, 2, 2),
        take(4, &[2], 5),
        take(6, &[1], 7)
    ]));
    assert!(linearizable(&[push(0, 1, 3), take(1, &[], 2)]));
    // Overtaken, overlooked, from nowhere, twice.
    assert!(!linearizable(&[
        push(0, 1, 1),
        push(2, 2, 3),
        take(4, &[2], 5)
    ]));
    assert!(!linearizable(&[push(0, 1, 1), take(2, &[], 3)]));
    assert!(!linearizable(&[take(0, &[1], 1), push(2, 1, 3)]));
    assert!(!linearizable(&[
        push(0, 1, 1),
        take(2, &[1], 4),
        take(3, &[1], 5)
    ]));
}

/// Two producers and two consumers, three operations each, over blocks of `BLOCK` slots; many times. Half of the
/// queues have no patience, so that slots are burnt.
fn record<const BLOCK: usize>(rounds: usize) {
    for round in 0..rounds {
        let queue = if round % 2 == 0 {
            Injector::<u32, BLOCK>::with_blocks()
        } else {
            Injector::with_patience(0)
        };
        let (clock, start) = (AtomicU64::new(0), Barrier::new(4));
        // AcqRel: a call that got a later time than a return happened after it.
        let time = || clock.fetch_add(1, Ordering::AcqRel);
        let producer = |first: u32| {
            start.wait();
            (first..first + 3)
                .map(|item| {
                    let called = time();
                    queue.push(item);
                    operation(called, Effect::Push(item), time())
                })
                .collect::<Vec<_>>()
        };
        let consumer = |more: usize| {
            start.wait();
            (0..3)
                .map(|_| {
                    let called = time();
                    let mut rest = Vec::new();
                    let first = queue.pop_batch(more, |item| rest.push(item));
                    let returned = time();
                    let items = first.into_iter().chain(rest).collect();
                    operation(called, Effect::Take(more, items), returned)
                })
                .collect::<Vec<_>>()
        };
        let history: Vec<Operation> = std::thread::scope(|scope| {
            let threads = [
                scope.spawn(|| producer(10)),
                scope.spawn(|| producer(20)),
                scope.spawn(|| consumer(0)),
                scope.spawn(|| consumer(2)),
            ];
            threads
                .into_iter()
                .flat_map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(
            linearizable(&history),
            "not a FIFO queue's history: {history:#?}"
        );
    }
}

#[test]
fn recorded_histories_are_linearizable() {
    record::<1>(1000);
    record::<2>(1000);
    record::<31>(1000);
}
