//! Divide and conquer on biased deques: how many primes are there below 300 000?
//!
//! Each worker halves its range, keeps one half and pushes the other, until the rest is small. So
//! the oldest item of its deque is its largest, and a thief that takes it has work for long. Most
//! items are pushed and popped by the same worker, which costs a biased deque no atomic
//! read-modify-write.
//!
//! A worker that finds nothing yields here, because the work is short. How it would sleep is the
//! example `worker_loop` of filch-parker.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use filch_deque::{Steal, Stealer, Worker};
use filch_sync::asymmetric;

const WORKERS: usize = 4;
const END: u32 = 300_000;
/// A range that is not worth dividing.
const SMALL: u32 = 256;

type Deque = Worker<Range<u32>>;

/// Divides `range` until the rest is small, leaves the other halves in `deque`, and returns the
/// rest.
fn divide(mut range: Range<u32>, deque: &Deque) -> Range<u32> {
    while range.end - range.start > SMALL {
        let middle = range.start + (range.end - range.start) / 2;
        deque.push(middle..range.end);
        range.end = middle;
    }
    range
}

fn is_prime(number: u32) -> bool {
    let mut divisors = (2..).take_while(|divisor| divisor * divisor <= number);
    number > 1 && !divisors.any(|divisor| number.is_multiple_of(divisor))
}

/// One round over the other workers' deques. An owner that was asked answers soon: its items are
/// small.
fn steal(stealers: &[Stealer<Range<u32>>], me: usize, deque: &Deque) -> Steal<Range<u32>> {
    (1..WORKERS)
        .map(|offset| stealers[(me + offset) % WORKERS].steal_half_into(deque, 8))
        .collect()
}

/// Works until no number is left. Returns the primes that it found, and how often it stole.
fn work(
    deque: &Deque,
    me: usize,
    stealers: &[Stealer<Range<u32>>],
    numbers_left: &AtomicU32,
) -> (usize, usize) {
    let (mut primes, mut steals) = (0, 0);
    // ORDERING: Relaxed: the end is all that it tells; the threads are joined for the rest.
    while numbers_left.load(Ordering::Relaxed) > 0 {
        let range = deque.pop().or_else(|| {
            let stolen = steal(stealers, me, deque).success();
            steals += usize::from(stolen.is_some());
            stolen
        });
        let Some(range) = range else {
            thread::yield_now();
            continue;
        };
        let rest = divide(range, deque);
        primes += rest.clone().filter(|&number| is_prime(number)).count();
        // ORDERING: Relaxed: as above.
        numbers_left.fetch_sub(rest.end - rest.start, Ordering::Relaxed);
    }
    (primes, steals)
}

fn main() {
    // Before there are threads: then it costs some microseconds.
    asymmetric::register();
    let deques: [Deque; WORKERS] = std::array::from_fn(|_| Worker::biased(64));
    let stealers = deques.each_ref().map(Worker::stealer);
    let numbers_left = AtomicU32::new(END);

    // All of it begins with one worker. The others get their part from it.
    deques[0].push(0..END);
    let found: Vec<(usize, usize)> = thread::scope(|scope| {
        let workers: Vec<_> = deques
            .into_iter()
            .enumerate()
            .map(|(me, deque)| {
                let (stealers, numbers_left) = (&stealers, &numbers_left);
                scope.spawn(move || work(&deque, me, stealers, numbers_left))
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().expect("no worker panics"))
            .collect()
    });

    let primes: usize = found.iter().map(|&(primes, _)| primes).sum();
    assert_eq!(primes, 25_997);
    for (me, (primes, steals)) in found.into_iter().enumerate() {
        println!("worker {me}: {primes} primes, {steals} steals");
    }
}
