//! The deque: recorded histories of real threads are those of a deque in which each push, pop,
//! steal and half has one moment.
//!
//! A thief's `Retry` is no answer. The `Empty` of a deque that is always shared is exact; that of
//! one that may be biased only says that nothing was in reach, so it is no answer here either. A
//! half is half of what the thief saw when it looked; later pushes may have made it less than half
//! at the moment of the claim, never more.

use std::iter;
use std::sync::Mutex;

use filch_deque::{Request, Steal, Stealer, Worker};
use filch_sync::asymmetric::register;
use linearizability::{Clocks, Deque, DequeOperation, History, Log, Recording, Rounds};

type Operation = DequeOperation<u32>;

/// Shares the deque in its owner's place, if it is biased.
fn insist(stealer: &Stealer<u32>) {
    if let Some(request) = stealer.ask() {
        // Refused after some hundred within a second: then the owner answers.
        let _ = Request::revoke_all(&[request]);
    }
}

fn steal(stealer: &Stealer<u32>, empty_is_exact: bool) -> Option<Operation> {
    match stealer.steal() {
        Steal::Success(item) => Some(Operation::Steal(Some(item))),
        Steal::Empty => empty_is_exact.then_some(Operation::Steal(None)),
        Steal::Retry => None,
    }
}

fn steal_half(stealer: &Stealer<u32>, empty_is_exact: bool) -> Option<Operation> {
    let limit = 3;
    let own = Worker::new();
    let items = match stealer.steal_half_into(&own, limit) {
        Steal::Success(oldest) => {
            let others = own.stealer();
            let others = iter::from_fn(|| others.steal().success());
            iter::once(oldest).chain(others).collect()
        }
        Steal::Empty if empty_is_exact => Vec::new(),
        Steal::Empty | Steal::Retry => return None,
    };
    Some(Operation::StealHalf { limit, items })
}

fn own(log: &mut Log<'_, Operation>, worker: &Worker<u32>) {
    for item in 0..6 {
        log.call(|| {
            worker.push(item);
            [Operation::Push(item)]
        });
        if item % 2 == 1 {
            log.call(|| [Operation::Pop(worker.pop())]);
        }
    }
    for item in 10..14 {
        log.call(|| {
            worker.push(item);
            [Operation::Push(item)]
        });
    }
    for _ in 0..4 {
        log.call(|| [Operation::Pop(worker.pop())]);
    }
}

/// The owner, a thief of single items and a thief of halves; then the owner empties the deque, so
/// that a lost item is noticed. The ring begins with room for two, so it is replaced on the way.
fn record(make: fn() -> Worker<u32>, empty_is_exact: bool, clocks: Clocks) -> History<Operation> {
    let worker = make();
    let (one, half) = (worker.stealer(), worker.stealer());
    let worker = Mutex::new(worker);
    let mut recording = Recording::new(clocks);
    recording.thread(|log| own(log, &worker.lock().unwrap()));
    recording.thread(move |log| {
        for _ in 0..5 {
            insist(&one);
            log.call(|| steal(&one, empty_is_exact));
        }
    });
    recording.thread(move |log| {
        for _ in 0..4 {
            log.call(|| steal_half(&half, empty_is_exact));
        }
    });
    recording.closing(|log| {
        for _ in 0..11 {
            log.call(|| [Operation::Pop(worker.lock().unwrap().pop())]);
        }
    });
    recording.run()
}

#[test]
fn a6_a_shared_deque_is_linearizable_empty_answers_included() {
    Rounds::check(800, &Deque::new(), |clocks| {
        record(|| Worker::with_capacity(2), true, clocks)
    });
}

#[test]
fn a_biased_deque_is_linearizable_except_for_empty_answers_of_thieves() {
    Rounds::check(800, &Deque::new(), |clocks| {
        register();
        record(|| Worker::biased(2), false, clocks)
    });
}
