//! Nanoseconds per event: how fast events go through.

use std::hint::black_box;

use super::contenders::{Blocking, Queue};
use crate::clock::{Backoff, cost, per_operation, time_together};

/// An event of a size, with a number in it.
pub(super) trait Payload: Send + 'static {
    fn with(number: u64) -> Self;
    fn number(&self) -> u64;
}

impl Payload for u64 {
    fn with(number: u64) -> Self {
        number
    }

    fn number(&self) -> u64 {
        *self
    }
}

impl<const WORDS: usize> Payload for [u64; WORDS] {
    fn with(number: u64) -> Self {
        [number; WORDS]
    }

    /// Looks at both ends.
    fn number(&self) -> u64 {
        self[0] | self[WORDS - 1]
    }
}

/// A consumer's way to take so many events; returns the sum of their numbers.
type Take<T, Q> = fn(&mut <Q as Queue<T>>::Receiver, u64) -> u64;

/// One at a time by `try_recv`; where there is none, it looks again after a pause.
pub(super) fn one_by_one<T: Payload, Q: Queue<T>>(receiver: &mut Q::Receiver, total: u64) -> u64 {
    let mut sum = 0;
    take_some(total, |backoff| {
        Q::pop(receiver).map_or(0, |event| {
            sum += event.number();
            backoff.reset();
            1
        })
    });
    sum
}

/// Everything that is there, by the contender's batch method.
pub(super) fn batches<T: Payload, Q: Queue<T>>(receiver: &mut Q::Receiver, total: u64) -> u64 {
    let mut sum = 0;
    take_some(total, |backoff| {
        let taken = Q::drain(receiver, |event| sum += event.number());
        backoff.found(taken);
        taken
    });
    sum
}

/// One at a time by `recv`, which waits.
pub(super) fn sleeping<T: Payload, Q: Blocking<T>>(receiver: &mut Q::Receiver, total: u64) -> u64 {
    (0..total).map(|_| Q::recv(receiver).number()).sum()
}

/// Takes so many in all, and waits when there is none.
fn take_some(total: u64, mut some: impl FnMut(&mut Backoff) -> u64) {
    let mut backoff = Backoff::default();
    let mut left = total;
    while left > 0 {
        match some(&mut backoff) {
            0 => backoff.wait(),
            taken => left -= taken,
        }
    }
}

/// Pushes `depth` events and takes them one by one, over and over, on one thread.
pub(super) fn one_thread<T: Payload, Q: Queue<T>>(events: u64, depth: u64) -> impl FnMut() -> f64 {
    let (sender, mut receiver) = Q::new();
    let rounds = events.div_ceil(depth);
    move || {
        cost(rounds * depth, || {
            for _ in 0..rounds {
                for event in 0..depth {
                    Q::push(&sender, T::with(black_box(event)));
                }
                for event in 0..depth {
                    let popped = Q::pop(&mut receiver).map(|event| black_box(event).number());
                    assert_eq!(popped, Some(event));
                }
            }
        })
    }
}

/// Pushes `depth` events and drains them, over and over, on one thread.
pub(super) fn burst<Q: Queue<u64>>(events: u64, depth: u64) -> impl FnMut() -> f64 {
    let (sender, mut receiver) = Q::new();
    let rounds = events.div_ceil(depth);
    move || {
        cost(rounds * depth, || {
            for _ in 0..rounds {
                for event in 0..depth {
                    Q::push(&sender, black_box(event));
                }
                let taken = Q::drain(&mut receiver, |event| {
                    black_box(event);
                });
                assert_eq!(taken, depth);
            }
        })
    }
}

/// Producers push as fast as they can. A new queue each round: memory that an earlier round left
/// would favour a queue that keeps it.
pub(super) fn fan_in<T: Payload, Q: Queue<T>>(
    producers: u64,
    events: u64,
    take: Take<T, Q>,
) -> impl FnMut() -> f64 {
    let each = events / producers;
    move || {
        let (sender, mut receiver) = Q::new();
        let total = producers * each;
        let mut tasks: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
        for _ in 0..producers {
            let sender = sender.clone();
            tasks.push(Box::new(move || {
                for event in 0..each {
                    Q::push(&sender, T::with(black_box(event)));
                }
            }));
        }
        let mut sum = 0;
        tasks.push(Box::new(|| sum = take(&mut receiver, total)));
        let elapsed = time_together(tasks);
        assert_eq!(sum, producers * (each * (each - 1) / 2));
        per_operation(elapsed, total)
    }
}
