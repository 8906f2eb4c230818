//! Real threads and the code as shipped: an owner pushes and pops, thieves take one or half. Every
//! item has one taker, each thief takes in push order, and every box is freed (a leak would be the
//! address sanitizer's finding).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use filch_deque::{Request, Steal, Stealer, Worker};
use filch_sync::asymmetric::register;

const ITEMS: usize = if cfg!(miri) {
    300
} else if cfg!(debug_assertions) {
    60_000
} else {
    1_000_000
};

/// The number of items that a thief takes at a time.
#[derive(Clone, Copy)]
enum Manner {
    One,
    Half(usize),
}

/// Takes until the owner is done and nothing is left. Returns what it took, and asserts that it
/// came in push order.
fn thief(victim: &Stealer<Box<usize>>, manner: Manner, done: &AtomicBool) -> Vec<usize> {
    let own = Worker::with_capacity(1);
    let mut taken = Vec::new();
    let mut last = None;
    loop {
        let finished = done.load(Ordering::Acquire);
        let answer = match manner {
            Manner::One => victim.steal(),
            Manner::Half(limit) => victim.steal_half_into(&own, limit),
        };
        match answer {
            Steal::Success(item) => {
                let others = own.stealer();
                let stolen = std::iter::once(item)
                    .chain(std::iter::from_fn(|| others.steal().success()))
                    .map(|item| *item);
                for item in stolen {
                    assert!(last.is_none_or(|last| last < item), "{item} after {last:?}");
                    last = Some(item);
                    taken.push(item);
                }
            }
            Steal::Retry => thread::yield_now(),
            Steal::Empty if finished => return taken,
            Steal::Empty => insist(victim),
        }
    }
}

/// Does not wait for an owner that works elsewhere, if that is to be had.
fn insist<T>(victim: &Stealer<T>) {
    let request = victim.ask();
    thread::yield_now();
    if let Some(request) = request
        && request.is_pending()
    {
        // More than a thousand a second are refused: then the owner will come.
        let _ = Request::revoke_all(&[request]);
    }
}

/// Pushes `0..ITEMS` in bursts, and pops part of each burst. Thieves see ascending numbers.
fn owner(worker: &Worker<Box<usize>>, burst: usize, pops: usize) -> Vec<usize> {
    let mut popped = Vec::new();
    let mut next = 0;
    while next < ITEMS {
        for _ in 0..burst.min(ITEMS - next) {
            worker.push(Box::new(next));
            next += 1;
        }
        popped.extend((0..pops).map_while(|_| worker.pop()).map(|item| *item));
    }
    popped
}

fn run(worker: Worker<Box<usize>>, manners: &[Manner], burst: usize, pops: usize) {
    register();
    let done = AtomicBool::new(false);
    let mut takes = thread::scope(|scope| {
        let thieves: Vec<_> = manners
            .iter()
            .map(|&manner| {
                let (victim, done) = (worker.stealer(), &done);
                scope.spawn(move || thief(&victim, manner, done))
            })
            .collect();
        let mut takes = vec![owner(&worker, burst, pops)];
        worker.share();
        done.store(true, Ordering::Release);
        takes.extend(thieves.into_iter().map(|thief| thief.join().unwrap()));
        takes
    });
    takes.push(
        std::iter::from_fn(|| worker.pop())
            .map(|item| *item)
            .collect(),
    );
    let mut seen = vec![false; ITEMS];
    for item in takes.into_iter().flatten() {
        assert!(!std::mem::replace(&mut seen[item], true), "{item} twice");
    }
    assert!(seen.into_iter().all(|seen| seen), "an item was lost");
}

#[test]
fn one_by_one_from_a_tiny_ring() {
    let manners = [Manner::One, Manner::One];
    run(Worker::with_capacity(1), &manners, 3, 2);
    run(Worker::biased(1), &manners, 3, 2);
}

#[test]
fn a6_by_halves_while_the_owner_pops() {
    let manners = [Manner::Half(usize::MAX), Manner::Half(4)];
    run(Worker::with_capacity(1), &manners, 16, 15);
    run(Worker::biased(1), &manners, 16, 15);
}

#[test]
fn mixed_thieves_and_a_long_deque() {
    let manners = [Manner::One, Manner::Half(16), Manner::Half(usize::MAX)];
    run(Worker::with_capacity(2), &manners, 100, 20);
    run(Worker::biased(2), &manners, 100, 20);
}

#[test]
fn across_the_wrap_of_tag_and_index() {
    let start = 0_u32.wrapping_sub(ITEMS as u32 / 4);
    let manners = [Manner::One, Manner::Half(8)];
    run(Worker::starting_at(4, start, false), &manners, 8, 4);
    run(Worker::starting_at(4, start, true), &manners, 8, 4);
}

/// Counts its drops.
struct Item(Arc<AtomicUsize>);

impl Drop for Item {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Workers in a ring rob each other, and are dropped meanwhile: every item is dropped once.
#[test]
fn workers_that_rob_each_other_and_leave() {
    rob_and_leave(|| Worker::with_capacity(1));
    rob_and_leave(|| Worker::biased(1));
}

fn rob_and_leave(make: impl Fn() -> Worker<Item>) {
    register();
    let ends: Vec<_> = (0..ITEMS / 10)
        .map(|_| Arc::new(AtomicUsize::new(0)))
        .collect();
    let workers: [Worker<Item>; 3] = std::array::from_fn(|_| make());
    let stealers = workers.each_ref().map(Worker::stealer);
    thread::scope(|scope| {
        for (own, worker) in workers.into_iter().enumerate() {
            let (stealers, ends) = (&stealers, &ends);
            scope.spawn(move || {
                for (step, end) in ends.iter().skip(own).step_by(3).enumerate() {
                    worker.push(Item(end.clone()));
                    if step % 4 == 3 {
                        let _ = stealers[(own + 1) % 3].steal_half_into(&worker, 8);
                        drop(worker.pop());
                    }
                }
                // The worker is dropped here, with items in it and thieves at work.
            });
        }
    });
    assert!(stealers.iter().all(Stealer::is_empty));
    assert!(ends.iter().all(|end| end.load(Ordering::Relaxed) == 1));
}
