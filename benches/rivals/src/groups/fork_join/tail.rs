//! Items that sleep: how well do many threads share work, however few cores there are?
//!
//! A figure is how many times as long a run takes as the ideal: an equal share of the sleep for
//! each thread, or the longest item, if that is more. The items are split as rayon's iterators
//! split theirs.

use std::cell::RefCell;
use std::ops::Range;
use std::thread;
use std::time::Duration;

use filch_fork_join::Pool;
use orx_parallel::{Par as _, Parallelizable as _};
use paralight::prelude::*;
use rayon::ThreadPool;

use super::contenders::pool;
use super::programs::mixed;
use super::{THREAD_LOCAL, of};
use crate::clock::time;
use crate::harness::{Scenario, keeping};
use crate::pools::Threads;

/// Numbers of threads, whatever the cores are.
pub(super) const THREADS: [usize; 6] = [2, 3, 8, 16, 32, 64];

/// A thread's share of the items of a full run.
const SHARE: u64 = 2;

/// The sleep of an equal item.
const SLEEP: Duration = Duration::from_millis(5);

/// The time that an item sleeps.
type Sleep = fn(u64) -> Duration;

pub(super) fn scenarios(threads: usize) -> [Scenario; 2] {
    let items = SHARE * threads as u64;
    let kinds: [(_, Sleep); 2] = [
        ("equal items that sleep", |_| SLEEP),
        // One of eight sleeps eight times as long as each of the others.
        ("heavy-tailed items that sleep", |item| {
            SLEEP * if mixed(item).is_multiple_of(8) { 8 } else { 1 } / 2
        }),
    ];
    kinds.map(|(name, sleep)| {
        let longest = (0..items).map(sleep).max().unwrap_or_default();
        let share = (0..items).map(sleep).sum::<Duration>() / threads as u32;
        let ideal = longest.max(share);
        let times_ideal = move |elapsed: Duration| elapsed.as_secs_f64() / ideal.as_secs_f64();
        let by = move |join| {
            let all = Iteration {
                threads,
                sleep,
                join,
            };
            move || all.part(0..items, threads, false)
        };
        let ours = by(|a, b| _ = filch_fork_join::join(a, b));
        let ours = move |pool: &Pool| times_ideal(time(|| pool.install(|_| ours())));
        let rayons = by(|a, b| _ = rayon::join(a, b));
        let rayons = move |pool: &ThreadPool| times_ideal(time(|| pool.install(&rayons)));
        let rayons_pool = move || ThreadPool::with_workers(threads);
        let paralights = move |pool: &RefCell<paralight::threads::ThreadPool>| {
            let pool = &mut *pool.borrow_mut();
            let all = (0..items as usize).into_par_iter().with_thread_pool(pool);
            times_ideal(time(|| {
                all.for_each(|item| thread::sleep(sleep(item as u64)));
            }))
        };
        let scenario = of(name, threads, "times the ideal")
            .contender(THREAD_LOCAL, keeping(move || pool(threads), ours))
            .contender("rayon", keeping(rayons_pool, rayons))
            .contender("paralight", keeping(move || paralight(threads), paralights));
        // Its pools have no more threads than the machine.
        if thread::available_parallelism().is_ok_and(|most| threads <= most.get()) {
            let orxs = move || {
                let all = (0..items as usize).par().num_threads(threads);
                times_ideal(time(|| {
                    all.for_each(|item| thread::sleep(sleep(item as u64)));
                }))
            };
            return scenario.contender("orx-parallel", orxs);
        }
        scenario
    })
}

fn paralight(threads: usize) -> RefCell<paralight::threads::ThreadPool> {
    let builder = ThreadPoolBuilder {
        num_threads: ThreadCount::try_from(threads).expect("there are threads"),
        range_strategy: RangeStrategy::WorkStealing,
        cpu_pinning: CpuPinningPolicy::No,
    };
    RefCell::new(builder.build())
}

/// A branch of a fork.
type Branch<'a> = &'a mut (dyn FnMut() + Send);

struct Iteration {
    threads: usize,
    sleep: Sleep,
    join: fn(Branch<'_>, Branch<'_>),
}

impl Iteration {
    /// Makes these items sleep, in two branches if there are splits left, or a thief is here: then
    /// others may be idle as well.
    fn part(&self, items: Range<u64>, splits: usize, is_stolen: bool) {
        if items.end - items.start == 1 || (splits == 0 && !is_stolen) {
            return items.for_each(|item| thread::sleep((self.sleep)(item)));
        }
        let splits = match is_stolen {
            true => self.threads.max(splits / 2),
            false => splits / 2,
        };
        let middle = items.start.midpoint(items.end);
        let forker = thread::current().id();
        (self.join)(
            &mut || self.part(items.start..middle, splits, false),
            &mut || {
                let is_stolen = thread::current().id() != forker;
                self.part(middle..items.end, splits, is_stolen);
            },
        );
    }
}
