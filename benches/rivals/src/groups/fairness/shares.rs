//! The shares of the time of those that always have something to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{Over, WARM_UP};
use crate::pools::Pool;
use crate::work::Work;

/// Tasks from outside that are under way at a time: more than there is time for.
pub(super) const FLOOD: u64 = 200;

/// Counts steps, each of the same length.
#[derive(Clone)]
struct Steps {
    work: Work,
    taken: Arc<AtomicU64>,
    over: Over,
}

impl Steps {
    fn of(work: Work, over: &Over) -> Self {
        Self {
            work,
            taken: Arc::default(),
            over: over.clone(),
        }
    }

    /// Takes a step; returns whether another follows.
    fn take(&self) -> bool {
        self.work.run();
        self.taken.fetch_add(1, Ordering::Relaxed);
        self.over.not_yet()
    }

    fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

/// The steps that `all` take from now on for so long.
fn watch(all: &[Steps], length: Duration) -> Vec<u64> {
    let before: Vec<u64> = all.iter().map(Steps::taken).collect();
    thread::sleep(length);
    let after = all.iter().map(Steps::taken);
    after
        .zip(before)
        .map(|(after, before)| after - before)
        .collect()
}

/// Measures the share of the pair that is served least, in per cent of an equal share.
pub(super) fn least_served<P: Pool>(
    workers: usize,
    pairs: usize,
    work: Work,
    length: Duration,
) -> impl FnMut() -> f64 {
    move || {
        let pool = P::new(workers);
        let over = Over::default();
        let all: Vec<Steps> = (0..pairs).map(|_| Steps::of(work, &over)).collect();
        for steps in &all {
            let steps = steps.clone();
            pool.pair(move || steps.take());
        }
        thread::sleep(WARM_UP);
        let taken = watch(&all, length);
        over.set();
        let least = taken.iter().min().copied().unwrap_or_default();
        let equal = taken.iter().sum::<u64>() as f64 / pairs as f64;
        100.0 * least as f64 / equal
    }
}

/// Measures the part that the pairs, or the yielders, get of the time of the cores: the lesser of
/// the two, in per cent.
pub(super) fn lesser_part<P: Pool>(
    workers: usize,
    [yielders, pairs]: [(usize, Work); 2],
    length: Duration,
) -> impl FnMut() -> f64 {
    move || {
        let pool = P::new(workers);
        let over = Over::default();
        let all = [yielders, pairs].map(|(_, work)| Steps::of(work, &over));
        let [yielding, pairing] = &all;
        for _ in 0..yielders.0 {
            let steps = yielding.clone();
            pool.yielder(move || steps.take());
        }
        for _ in 0..pairs.0 {
            let steps = pairing.clone();
            pool.pair(move || steps.take());
        }
        thread::sleep(WARM_UP);
        let started = Instant::now();
        let taken = watch(&all, length);
        let capacity = capacity(workers, started.elapsed());
        over.set();
        let parts = all.iter().zip(taken);
        let parts = parts.map(|(steps, taken)| part(steps.work.times(taken), capacity));
        parts.fold(f64::INFINITY, f64::min)
    }
}

/// Measures the part that the pairs get of the time of the cores beside tasks from outside, of
/// which there are always some, in per cent.
pub(super) fn beside_flood<P: Pool>(
    workers: usize,
    pairs: (usize, Work),
    task: Work,
    length: Duration,
) -> impl FnMut() -> f64 {
    move || {
        let pool = P::new(workers);
        let over = Over::default();
        let pairing = Steps::of(pairs.1, &over);
        for _ in 0..pairs.0 {
            let steps = pairing.clone();
            pool.pair(move || steps.take());
        }
        thread::sleep(WARM_UP);
        let flooding = Steps::of(task, &over);
        let (before, started) = (pairing.taken(), Instant::now());
        let spawn = || {
            let steps = flooding.clone();
            pool.spawn(move || {
                steps.take();
            });
        };
        let goes_on = || started.elapsed() < length;
        keep_under_way(FLOOD, spawn, || flooding.taken(), goes_on);
        let taken = pairing.taken() - before;
        let capacity = capacity(workers, started.elapsed());
        over.set();
        part(pairs.1.times(taken), capacity)
    }
}

/// Makes one more whenever fewer than `count` of those that it has made have not ended.
pub(super) fn keep_under_way(
    count: u64,
    make: impl Fn(),
    ended: impl Fn() -> u64,
    goes_on: impl Fn() -> bool,
) {
    let mut made = 0;
    while goes_on() {
        while made - ended() < count {
            make();
            made += 1;
        }
        // A spinner would take the time that is shared here.
        thread::sleep(Duration::from_micros(100));
    }
}

/// The time that so many workers have, on the cores that there are.
fn capacity(workers: usize, elapsed: Duration) -> Duration {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    elapsed.mul_f64(workers.min(cores) as f64)
}

fn part(time: Duration, of: Duration) -> f64 {
    100.0 * time.as_secs_f64() / of.as_secs_f64()
}
