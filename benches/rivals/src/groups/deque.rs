//! Work-stealing deques: the owner's two methods, a thief's half, and the two together.
//!
//! All contenders hold words. None of them has to grow after the first round but crossbeam's: their
//! owner halves the buffer whenever a pop leaves it less than a quarter full, down to 64 slots, and
//! copies it to one twice as large when a push finds it full. So each fill and drain of 256 or of
//! 100 000 shrinks and grows it again. That is crossbeam's way, and belongs to what it costs.
//!
//! The owners of those called FIFO take the oldest item, which is a different service. They are
//! here to show what that costs.

mod contenders;

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use self::contenders::{
    Biased, CrossbeamFifo, CrossbeamLifo, Deque, Owner, Shared, St3Fifo, St3Lifo, Unshared,
};
use crate::clock::{cost, per_operation, time, time_together, uncontended_rmws};
use crate::harness::Scenario;
use crate::work::{Work, workers};

/// The number of items in a filled deque.
const FILL: usize = 256;

/// Victims that a thief visits in one timed stretch, so that reading the clock is spread over many
/// items.
const VICTIMS: usize = 16;

/// Items that an owner pushes before it pops, beside a thief.
const BURST: usize = 64;

/// The argument of the recursion in the fork pattern, and how many forks that makes.
const FORK_DEPTH: u64 = 24;
const FORKS: u64 = 75_024;

macro_rules! scenario {
    ($scenario:expr, $round:ident($($argument:expr),*)) => {
        $scenario
            .contender("filch-deque shared", $round::<Shared>($($argument),*))
            .contender("filch-deque biased", $round::<Biased>($($argument),*))
            .contender("crossbeam-deque LIFO", $round::<CrossbeamLifo>($($argument),*))
            .contender("crossbeam-deque FIFO", $round::<CrossbeamFifo>($($argument),*))
            .contender("st3 LIFO", $round::<St3Lifo>($($argument),*))
            .contender("st3 FIFO", $round::<St3Fifo>($($argument),*))
    };
}

pub(crate) fn scenarios() -> Vec<Scenario> {
    let single = 500_000;
    let stretches = 2000;
    let long = 5;
    let steals = 125;
    let forks = 3;
    let alone = |name| Scenario::new(name, "ns per push and pop");
    let rmw = "one uncontended RMW";
    let mut scenarios = vec![
        scenario!(alone("depth 1"), depth_one(single))
            .floor("unshared Vec", depth_one::<Unshared>(single))
            .floor(rmw, uncontended_rmws(1, single)),
        scenario!(alone("256 push 256 pop"), fill_and_drain(stretches, FILL))
            .floor("unshared Vec", fill_and_drain::<Unshared>(stretches, FILL))
            .floor(rmw, uncontended_rmws(1, single)),
        scenario!(alone("100k push 100k pop"), fill_and_drain(long, 100_000))
            .floor("unshared Vec", fill_and_drain::<Unshared>(long, 100_000)),
        scenario!(
            Scenario::new("steal half", "ns per item stolen"),
            steal(steals)
        ),
    ];
    let bursts = 2500;
    let slow_bursts = 500;
    // The owner is one of the workers.
    let thieves = workers().max(2) - 1;
    for (kind, unit, bursts, nanos) in [
        ("bursts + thief", "ns per item", bursts, 0),
        ("shared tasks 20 ns", "ns per task", bursts, 20),
        ("shared tasks 500 ns", "ns per task", slow_bursts, 500),
    ] {
        let scenario = Scenario::of_workers(kind, workers(), unit);
        let task = Work::lasting(Duration::from_nanos(nanos));
        scenarios.push(scenario!(scenario, shared(bursts, task, thieves)).floor(
            "threads that share nothing",
            apart(bursts, task, 1 + thieves as u64),
        ));
    }
    // Last in, first out only: a deque that gives the oldest fork first would hold all of them at
    // once.
    scenarios.push(
        Scenario::new("fork pattern", "ns per fork")
            .contender("filch-deque shared", fork_pattern::<Shared>(forks))
            .contender("filch-deque biased", fork_pattern::<Biased>(forks))
            .contender("crossbeam-deque LIFO", fork_pattern::<CrossbeamLifo>(forks))
            .contender("st3 LIFO", fork_pattern::<St3Lifo>(forks)),
    );
    scenarios
}

fn depth_one<D: Owner>(operations: u64) -> impl FnMut() -> f64 {
    let deque = D::new(FILL);
    move || {
        cost(operations, || {
            for item in 0..operations {
                deque.push(black_box(item));
                assert_eq!(black_box(deque.pop()), Some(item));
            }
        })
    }
}

fn fill_and_drain<D: Owner>(stretches: u64, count: usize) -> impl FnMut() -> f64 {
    let deque = D::new(count);
    move || {
        cost(stretches * count as u64, || {
            for _ in 0..stretches {
                fill(&deque, count);
                assert_eq!(drain(&deque), count);
            }
        })
    }
}

fn steal<D: Deque>(repetitions: u64) -> impl FnMut() -> f64 {
    let thief = D::new(VICTIMS * FILL / 2);
    let victims: [D; VICTIMS] = std::array::from_fn(|_| D::new(FILL));
    let stealers = victims.each_ref().map(D::stealer);
    move || {
        let mut elapsed = Duration::ZERO;
        for _ in 0..repetitions {
            for victim in &victims {
                fill(victim, FILL);
                victim.share();
            }
            elapsed += time(|| {
                for stealer in &stealers {
                    assert!(black_box(D::steal_half(stealer, &thief, FILL / 2)).is_some());
                }
            });
            assert_eq!(drain(&thief), VICTIMS * (FILL / 2 - 1));
            for victim in &victims {
                assert_eq!(drain(victim), FILL / 2);
            }
        }
        per_operation(elapsed, repetitions * (VICTIMS * FILL / 2) as u64)
    }
}

/// The owner pushes a burst of tasks and pops until nothing is left, beside thieves that never
/// rest: they take halves of what is there.
fn shared<D: Deque>(bursts: u64, task: Work, thieves: usize) -> impl FnMut() -> f64 {
    const CAPACITY: usize = 2 * BURST;
    move || {
        let deque = D::new(CAPACITY);
        let stealers: Vec<_> = (0..thieves).map(|_| deque.stealer()).collect();
        let is_done = &AtomicBool::new(false);
        let ran = &AtomicU64::new(0);
        let run_all = move |deque: &D| {
            let tasks = std::iter::from_fn(|| deque.pop());
            tasks.map(|_| task.run()).count() as u64
        };
        let owner = move || {
            let mut count = 0;
            for _ in 0..bursts {
                fill(&deque, BURST);
                count += run_all(&deque);
            }
            ran.fetch_add(count, Ordering::Relaxed);
            is_done.store(true, Ordering::Release);
        };
        let mut tasks: Vec<Box<dyn FnOnce() + Send>> = vec![Box::new(owner)];
        for stealer in stealers {
            tasks.push(Box::new(move || {
                let own = D::new(CAPACITY);
                let mut count = 0;
                while !is_done.load(Ordering::Acquire) {
                    if D::steal_half(&stealer, &own, BURST).is_none() {
                        spin_loop();
                        continue;
                    }
                    task.run();
                    count += 1 + run_all(&own);
                }
                ran.fetch_add(count, Ordering::Relaxed);
            }));
        }
        let elapsed = time_together(tasks);
        let tasks = bursts * BURST as u64;
        assert_eq!(ran.load(Ordering::Relaxed), tasks);
        per_operation(elapsed, tasks)
    }
}

/// The same tasks, an equal share for each of so many owners from the start: what sharing would
/// take if it were free.
fn apart(bursts: u64, task: Work, owners: u64) -> impl FnMut() -> f64 {
    move || {
        let each = bursts.div_ceil(owners);
        let owner = move || {
            let own = Unshared::new(BURST);
            for _ in 0..each {
                fill(&own, BURST);
                while own.pop().is_some() {
                    task.run();
                }
            }
        };
        let tasks = (0..owners).map(|_| Box::new(owner) as Box<dyn FnOnce() + Send>);
        let elapsed = time_together(tasks.collect());
        per_operation(elapsed, each * owners * BURST as u64)
    }
}

/// The pattern of `join`: a push before the first half, a pop after it.
fn fork_pattern<D: Deque>(repetitions: u64) -> impl FnMut() -> f64 {
    /// The leaves below.
    fn fork<D: Deque>(deque: &D, n: u64) -> u64 {
        if n < 2 {
            return 1;
        }
        deque.push(n - 2);
        let first = fork(deque, n - 1);
        let second = deque.pop().expect("nobody steals");
        first + fork(deque, second)
    }

    let deque = D::new(FILL);
    move || {
        cost(repetitions * FORKS, || {
            for _ in 0..repetitions {
                assert_eq!(fork(&deque, black_box(FORK_DEPTH)), FORKS + 1);
            }
        })
    }
}

fn fill(deque: &impl Owner, count: usize) {
    for item in 0..count as u64 {
        deque.push(black_box(item));
    }
}

fn drain(deque: &impl Owner) -> usize {
    std::iter::from_fn(|| black_box(deque.pop())).count()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::contenders::{Biased, Shared, St3Lifo};
    use super::shared;
    use crate::work::Work;

    /// Each turn sums what was run.
    #[test]
    fn several_thieves_run_each_task_once() {
        let task = |nanos| Work::lasting(Duration::from_nanos(nanos));
        let mut turns: [Box<dyn FnMut() -> f64>; 3] = [
            Box::new(shared::<Shared>(200, task(0), 3)),
            Box::new(shared::<Biased>(200, task(20), 3)),
            Box::new(shared::<St3Lifo>(200, task(0), 2)),
        ];
        assert!(turns.iter_mut().all(|turn| turn() > 0.0));
    }
}
