//! Items that sleep: how well do many threads share work, however few cores there are?
//!
//! A figure is how many times as long a run takes as the ideal: an equal share of the sleep for
//! each thread, or the longest item, if that is more. The items are split as rayon's iterators
//! split theirs.

use std::iter;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::contenders::pool;
use super::programs::mixed;
use super::{THREAD_LOCAL, of};
use crate::clock::{time, time_together};
use crate::harness::{Effort, Scenario, keeping};
use crate::pools::rayon_pool;

/// Numbers of threads, whatever the cores are.
pub(super) const THREADS: [usize; 5] = [3, 8, 16, 32, 64];

/// A thread's share of the items of a full run.
const SHARE: u64 = 16;

/// The sleep of an equal item.
const SLEEP: Duration = Duration::from_millis(5);

/// The time that an item sleeps.
type Sleep = fn(u64) -> Duration;

pub(super) fn scenarios(threads: usize, effort: Effort) -> [Scenario; 2] {
    let items = effort.operations(SHARE) * threads as u64;
    let kinds: [(_, Sleep); 2] = [
        ("equal items that sleep", |_| SLEEP),
        ("heavy-tailed items that sleep", heavy_tailed),
    ];
    kinds.map(|(name, sleep)| scenario(name, threads, items, sleep))
}

/// One item of eight sleeps eight times as long as each of the others.
fn heavy_tailed(item: u64) -> Duration {
    if mixed(item).is_multiple_of(8) {
        SLEEP * 4
    } else {
        SLEEP / 2
    }
}

fn scenario(name: &str, threads: usize, items: u64, sleep: Sleep) -> Scenario {
    let longest = (0..items).map(sleep).max().unwrap_or_default();
    let share = (0..items).map(sleep).sum::<Duration>() / threads as u32;
    let ideal = longest.max(share);
    let times_ideal = move |elapsed: Duration| elapsed.as_secs_f64() / ideal.as_secs_f64();
    let iteration = move |join| Iteration {
        threads,
        sleep,
        join,
    };
    of(name, threads, "times the ideal")
        .contender(
            THREAD_LOCAL,
            keeping(
                move || pool(threads),
                move |pool| {
                    let all = iteration(|a, b| _ = filch_fork_join::join(a, b));
                    times_ideal(time(|| pool.install(|_| all.run(items))))
                },
            ),
        )
        .contender(
            "rayon",
            keeping(
                move || rayon_pool(threads),
                move |pool| {
                    let all = iteration(|a, b| _ = rayon::join(a, b));
                    times_ideal(time(|| pool.install(|| all.run(items))))
                },
            ),
        )
        .floor("threads that count", move || {
            times_ideal(counted(threads, items, sleep))
        })
}

/// A branch of a fork.
type Branch<'a> = &'a mut (dyn FnMut() + Send);

struct Iteration {
    threads: usize,
    sleep: Sleep,
    join: fn(Branch<'_>, Branch<'_>),
}

impl Iteration {
    /// Makes each item sleep.
    fn run(&self, items: u64) {
        assert_eq!(self.part(0..items, self.threads, false), items);
    }

    /// Makes these sleep, in two branches if there are splits left, or a thief is here: then others
    /// may be idle as well. Returns how many there are.
    fn part(&self, items: Range<u64>, splits: usize, is_stolen: bool) -> u64 {
        let count = items.end - items.start;
        if count == 1 || (splits == 0 && !is_stolen) {
            items.for_each(|item| thread::sleep((self.sleep)(item)));
            return count;
        }
        let splits = match is_stolen {
            true => self.threads.max(splits / 2),
            false => splits / 2,
        };
        let middle = items.start.midpoint(items.end);
        let forker = thread::current().id();
        let (mut a, mut b) = (0, 0);
        (self.join)(
            &mut || a = self.part(items.start..middle, splits, false),
            &mut || {
                let is_stolen = thread::current().id() != forker;
                b = self.part(middle..items.end, splits, is_stolen);
            },
        );
        a + b
    }
}

/// Threads that take the next item by adding one to a number: nothing is forked or stolen.
fn counted(threads: usize, items: u64, sleep: Sleep) -> Duration {
    let next = AtomicU64::new(0);
    let task = || {
        let taken = iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let taken = taken.take_while(|&item| item < items);
        taken.for_each(|item| thread::sleep(sleep(item)));
    };
    time_together((0..threads).map(|_| Box::new(task) as _).collect())
}
