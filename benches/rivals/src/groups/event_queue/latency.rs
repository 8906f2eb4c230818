//! Nanoseconds from one thread to the other, each event by itself.

use std::hint;
use std::time::{Duration, Instant};

use super::contenders::{Blocking, Queue};
use crate::clock::{per_operation, time_together};

/// One producer pushes an event each `period`, the time at which it did so; the consumer looks all
/// the time. Returns how old each event is when it is taken.
pub(super) fn messages<Q: Queue<u64>>(period: Duration, count: u64) -> impl FnMut() -> Vec<f64> {
    let period = period.as_nanos() as u64;
    move || {
        let (sender, mut receiver) = Q::new();
        let began = Instant::now();
        let now = move || began.elapsed().as_nanos() as u64;
        let push = move || {
            let mut next = now();
            for _ in 0..count {
                next += period;
                while now() < next {
                    hint::spin_loop();
                }
                Q::push(&sender, now());
            }
        };
        let mut ages = Vec::with_capacity(count as usize);
        let take = || {
            while ages.len() < count as usize {
                match Q::pop(&mut receiver) {
                    Some(pushed) => ages.push((now() - pushed) as f64),
                    None => hint::spin_loop(),
                }
            }
        };
        time_together(vec![Box::new(push), Box::new(take)]);
        ages
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
