//! Nanoseconds from one thread to the other, each event by itself.

use std::hint;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::contenders::{Blocking, Queue};
use crate::clock::{cost, per_operation, time_of_this_thread, time_together};

/// A consumer's way to wait for an event.
pub(super) type Next<Q> = fn(&mut <Q as Queue<u64>>::Receiver) -> u64;

/// It looks all the time.
pub(super) fn polled<Q: Queue<u64>>(receiver: &mut Q::Receiver) -> u64 {
    loop {
        match Q::pop(receiver) {
            Some(pushed) => return pushed,
            None => hint::spin_loop(),
        }
    }
}

/// By `recv`, which may sleep.
pub(super) fn received<Q: Blocking<u64>>(receiver: &mut Q::Receiver) -> u64 {
    Q::recv(receiver)
}

/// One producer pushes an event each `period`, the time at which it did so. Returns how old each
/// event is when it is taken.
pub(super) fn messages<Q: Queue<u64>>(
    period: Duration,
    count: u64,
    next: Next<Q>,
) -> impl FnMut() -> Vec<f64> {
    move || paced::<Q>(period, count, next).0
}

/// The share of a core that the consumer uses meanwhile.
pub(super) fn receiver_load<Q: Queue<u64>>(
    period: Duration,
    count: u64,
    next: Next<Q>,
) -> impl FnMut() -> f64 {
    move || paced::<Q>(period, count, next).1
}

/// The ages, and the load.
fn paced<Q: Queue<u64>>(period: Duration, count: u64, next: Next<Q>) -> (Vec<f64>, f64) {
    let period = period.as_nanos() as u64;
    let (sender, mut receiver) = Q::new();
    let began = Instant::now();
    let now = move || began.elapsed().as_nanos() as u64;
    let push = move || {
        let mut due = now();
        for _ in 0..count {
            due += period;
            while now() < due {
                hint::spin_loop();
            }
            Q::push(&sender, now());
        }
    };
    let mut ages = Vec::with_capacity(count as usize);
    let mut used = 0.0;
    let take = || {
        let before = time_of_this_thread();
        for _ in 0..count {
            let pushed = next(&mut receiver);
            ages.push((now() - pushed) as f64);
        }
        used = (time_of_this_thread() - before).as_secs_f64();
    };
    let elapsed = time_together(vec![Box::new(push), Box::new(take)]);
    (ages, 100.0 * used / elapsed.as_secs_f64())
}

/// The nanoseconds of each push, a reading of the clock among them, while another producer pushes
/// as well and nobody takes.
pub(super) fn pushes<Q: Queue<u64>>(count: u64) -> impl FnMut() -> Vec<f64> {
    move || {
        let (sender, _receiver) = Q::new();
        let other = sender.clone();
        let is_over = &AtomicBool::new(false);
        let mut took = Vec::with_capacity(count as usize);
        let times = &mut took;
        // The senders go along: not all can be shared.
        let measured = move || {
            times.extend((0..count).map(|event| cost(1, || Q::push(&sender, event))));
            is_over.store(true, Ordering::Relaxed);
        };
        let beside = move || {
            while !is_over.load(Ordering::Relaxed) {
                Q::push(&other, 0);
            }
        };
        time_together(vec![Box::new(measured), Box::new(beside)]);
        took
    }
}

/// Two threads hand an event to and fro, and each waits by `recv`. Nanoseconds of a round trip.
pub(super) fn ping_pong<Q: Blocking<u64>>(trips: u64) -> impl FnMut() -> f64 {
    move || {
        let ((there, mut inbox), (back, mut answers)) = (Q::new(), Q::new());
        let ask = move || {
            for trip in 0..trips {
                Q::push(&there, trip);
                assert_eq!(Q::recv(&mut answers), trip);
            }
        };
        let answer = move || (0..trips).for_each(|_| Q::push(&back, Q::recv(&mut inbox)));
        per_operation(time_together(vec![Box::new(ask), Box::new(answer)]), trips)
    }
}
