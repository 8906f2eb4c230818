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
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use self::contenders::{
    Biased, CrossbeamFifo, CrossbeamLifo, Deque, Locked, Owner, Shared, St3Fifo, St3Lifo, Unshared,
};
use crate::floor::uncontended_rmws;
use crate::harness::{Effort, Scenario, per_operation, time, time_together};

/// How many items a filled deque holds.
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
    ($name:expr, $unit:expr, $round:ident($($argument:expr),*)) => {
        Scenario::new($name, $unit)
            .contender("filch-deque strict", $round::<Shared>($($argument),*))
            .contender("filch-deque lazy", $round::<Biased>($($argument),*))
            .contender("crossbeam-deque LIFO", $round::<CrossbeamLifo>($($argument),*))
            .contender("crossbeam-deque FIFO", $round::<CrossbeamFifo>($($argument),*))
            .contender("st3 LIFO", $round::<St3Lifo>($($argument),*))
            .contender("st3 FIFO", $round::<St3Fifo>($($argument),*))
            .contender("Mutex<VecDeque>", $round::<Locked>($($argument),*))
    };
}

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let single = effort.operations(4_000_000);
    let stretches = effort.operations(16_000);
    let long = effort.operations(40);
    let steals = effort.operations(1_000);
    let mut scenarios = vec![
        scenario!("depth 1", "ns per push and pop", depth_one(single))
            .floor("unshared Vec", depth_one::<Unshared>(single))
            .floor("one uncontended RMW", uncontended_rmws(1, single)),
        scenario!(
            "256 push 256 pop",
            "ns per push and pop",
            fill_and_drain(stretches, FILL)
        )
        .floor("unshared Vec", fill_and_drain::<Unshared>(stretches, FILL))
        .floor("one uncontended RMW", uncontended_rmws(1, single)),
        scenario!(
            "100k push 100k pop",
            "ns per push and pop",
            fill_and_drain(long, 100_000)
        )
        .floor("unshared Vec", fill_and_drain::<Unshared>(long, 100_000)),
        scenario!("steal half", "ns per item stolen", steal(steals)),
    ];
    let bursts = in_bursts(1, effort);
    scenarios.extend(bursts.map(|(_, scenario)| scenario));
    scenarios.push(forking("fork pattern".into(), 0, effort));
    scenarios
}

/// The rows of an owner with thieves, with so many of them.
pub(crate) fn curve(thieves: usize, effort: Effort) -> Vec<(&'static str, Scenario)> {
    let kind = "fork pattern + thieves";
    let forking = forking(titled(kind, thieves), thieves, effort);
    in_bursts(thieves, effort)
        .into_iter()
        .chain([(kind, forking)])
        .collect()
}

fn titled(kind: &str, thieves: usize) -> String {
    format!("{kind}, thieves: {thieves}")
}

/// An owner that pushes its tasks in bursts.
fn in_bursts(thieves: usize, effort: Effort) -> [(&'static str, Scenario); 3] {
    let bursts = effort.operations(20_000);
    let slow_bursts = effort.operations(4_000);
    [
        ("bursts + thief", "ns per item", bursts, 0),
        ("shared tasks 20 ns", "ns per task", bursts, 20),
        ("shared tasks 500 ns", "ns per task", slow_bursts, 500),
    ]
    .map(|(kind, unit, bursts, nanoseconds)| {
        let name = match thieves {
            1 => kind.to_owned(),
            _ => titled(kind, thieves),
        };
        let scenario = scenario!(name, unit, shared(bursts, nanoseconds, thieves)).floor(
            "threads that share nothing",
            apart(bursts, nanoseconds, 1 + thieves as u64),
        );
        (kind, scenario)
    })
}

/// Last in, first out only: a deque that gives the oldest fork first would hold all of them at
/// once.
fn forking(name: String, thieves: usize, effort: Effort) -> Scenario {
    let forks = effort.operations(24);
    Scenario::new(name, "ns per fork")
        .contender("filch-deque strict", fork_pattern::<Shared>(forks, thieves))
        .contender("filch-deque lazy", fork_pattern::<Biased>(forks, thieves))
        .contender(
            "crossbeam-deque LIFO",
            fork_pattern::<CrossbeamLifo>(forks, thieves),
        )
        .contender("st3 LIFO", fork_pattern::<St3Lifo>(forks, thieves))
        .contender("Mutex<VecDeque>", fork_pattern::<Locked>(forks, thieves))
}

fn depth_one<D: Owner>(operations: u64) -> impl FnMut() -> f64 {
    let deque = D::new(FILL);
    move || {
        let elapsed = time(|| {
            for item in 0..operations {
                deque.push(black_box(item));
                assert_eq!(black_box(deque.pop()), Some(item));
            }
        });
        per_operation(elapsed, operations)
    }
}

fn fill_and_drain<D: Owner>(stretches: u64, count: usize) -> impl FnMut() -> f64 {
    let deque = D::new(count);
    move || {
        let elapsed = time(|| {
            for _ in 0..stretches {
                fill(&deque, count);
                assert_eq!(drain(&deque), count);
            }
        });
        per_operation(elapsed, stretches * count as u64)
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

/// The owner of a deque does `own`, beside thieves that never rest: they take halves of what is
/// there, and `run` each task, with a deque of their own. Returns the time, and the sum of all that
/// was counted.
fn beside_thieves<D: Deque>(
    thieves: usize,
    capacity: usize,
    own: impl FnOnce(&D) -> u64 + Send,
    run: impl Fn(&D, u64) -> u64 + Sync,
) -> (Duration, u64) {
    let deque = D::new(capacity);
    let stealers: Vec<_> = (0..thieves).map(|_| deque.stealer()).collect();
    let is_done = &AtomicBool::new(false);
    let counted = &AtomicU64::new(0);
    let run = &run;
    let owner = move || {
        counted.fetch_add(own(&deque), Ordering::Relaxed);
        is_done.store(true, Ordering::Release);
    };
    let mut tasks: Vec<Box<dyn FnOnce() + Send>> = vec![Box::new(owner)];
    for stealer in stealers {
        tasks.push(Box::new(move || {
            let loot = D::new(capacity);
            let mut count = 0;
            while !is_done.load(Ordering::Acquire) {
                let Some(task) = D::steal_half(&stealer, &loot, capacity / 2) else {
                    spin_loop();
                    continue;
                };
                count += run(&loot, task);
                while let Some(task) = loot.pop() {
                    count += run(&loot, task);
                }
            }
            counted.fetch_add(count, Ordering::Relaxed);
        }));
    }
    let elapsed = time_together(tasks);
    (elapsed, counted.load(Ordering::Relaxed))
}

/// The owner pushes a burst of tasks and pops until nothing is left. A task is `nanoseconds` of
/// arithmetic.
fn shared<D: Deque>(bursts: u64, nanoseconds: u64, thieves: usize) -> impl FnMut() -> f64 {
    let turns = turns_in(nanoseconds);
    move || {
        let run = |task| {
            work(task, turns);
            1
        };
        let own = |deque: &D| {
            let mut count = 0;
            for _ in 0..bursts {
                fill(deque, BURST);
                while let Some(task) = deque.pop() {
                    count += run(task);
                }
            }
            count
        };
        let (elapsed, ran) = beside_thieves(thieves, 2 * BURST, own, |_, task| run(task));
        let tasks = bursts * BURST as u64;
        assert_eq!(ran, tasks);
        per_operation(elapsed, tasks)
    }
}

/// The same tasks, an equal share for each of so many owners from the start: what sharing would
/// take if it were free.
fn apart(bursts: u64, nanoseconds: u64, owners: u64) -> impl FnMut() -> f64 {
    let turns = turns_in(nanoseconds);
    move || {
        let each = bursts.div_ceil(owners);
        let owner = move || {
            let own = Unshared::new(BURST);
            for _ in 0..each {
                fill(&own, BURST);
                while let Some(task) = own.pop() {
                    work(task, turns);
                }
            }
        };
        let tasks = (0..owners).map(|_| Box::new(owner) as Box<dyn FnOnce() + Send>);
        let elapsed = time_together(tasks.collect());
        per_operation(elapsed, each * owners * BURST as u64)
    }
}

/// The pattern of `join`: a push before the first half, a pop after it. What a thief has taken, it
/// forks in a deque of its own, which nobody steals from.
fn fork_pattern<D: Deque>(repetitions: u64, thieves: usize) -> impl FnMut() -> f64 {
    /// The leaves below, but for those that a thief has: it took all that is older as well.
    fn fork<D: Deque>(deque: &D, n: u64) -> u64 {
        if n < 2 {
            return 1;
        }
        deque.push(n - 2);
        let first = fork(deque, n - 1);
        match deque.pop() {
            Some(second) => first + fork(deque, second),
            None => first,
        }
    }

    move || {
        let own = |deque: &D| {
            let leaves = (0..repetitions).map(|_| fork(deque, black_box(FORK_DEPTH)));
            leaves.sum()
        };
        let (elapsed, leaves) = beside_thieves(thieves, FILL, own, fork);
        assert_eq!(leaves, repetitions * (FORKS + 1));
        per_operation(elapsed, repetitions * FORKS)
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

/// A chain of multiplications, each waiting for the one before.
fn work(task: u64, turns: u64) {
    let mut state = black_box(task);
    for _ in 0..turns {
        state = black_box(state.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    }
}

/// How many turns of [`work`] take `nanoseconds` on this machine: measured once.
fn turns_in(nanoseconds: u64) -> u64 {
    static PER_MICROSECOND: OnceLock<u64> = OnceLock::new();
    let turns = 1_000_000;
    let per_microsecond = PER_MICROSECOND.get_or_init(|| {
        let fastest = (0..5).map(|_| time(|| work(1, turns))).min();
        let fastest = fastest.expect("five attempts").as_nanos() as u64;
        turns * 1_000 / fastest.max(1)
    });
    nanoseconds * per_microsecond / 1_000
}

#[cfg(test)]
mod tests {
    use super::contenders::{Biased, Locked, Shared, St3Lifo};
    use super::{fork_pattern, shared};

    /// Each turn sums what was run.
    #[test]
    fn several_thieves_run_each_task_once() {
        let mut turns: [Box<dyn FnMut() -> f64>; 6] = [
            Box::new(shared::<Shared>(200, 0, 3)),
            Box::new(shared::<Biased>(200, 20, 3)),
            Box::new(shared::<St3Lifo>(200, 0, 2)),
            Box::new(fork_pattern::<Shared>(1, 3)),
            Box::new(fork_pattern::<Biased>(1, 3)),
            Box::new(fork_pattern::<Locked>(1, 0)),
        ];
        assert!(turns.iter_mut().all(|turn| turn() > 0.0));
    }
}
