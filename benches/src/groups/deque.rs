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
    CrossbeamFifo, CrossbeamLifo, Deque, Lazy, Locked, Owner, St3Fifo, St3Lifo, Strict, Unshared,
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
    ($name:literal, $unit:literal, $round:ident($($argument:expr),*)) => {
        Scenario::new($name, $unit)
            .contender("filch-deque strict", $round::<Strict>($($argument),*))
            .contender("filch-deque lazy", $round::<Lazy>($($argument),*))
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
    let bursts = effort.operations(20_000);
    let slow_bursts = effort.operations(4_000);
    let forks = effort.operations(24);
    vec![
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
        scenario!("bursts + thief", "ns per item", shared(bursts, 0))
            .floor("two that share nothing", apart(bursts, 0)),
        scenario!("shared tasks 20 ns", "ns per task", shared(bursts, 20))
            .floor("two that share nothing", apart(bursts, 20)),
        scenario!(
            "shared tasks 500 ns",
            "ns per task",
            shared(slow_bursts, 500)
        )
        .floor("two that share nothing", apart(slow_bursts, 500)),
        // Last in, first out only: a deque that gives the oldest fork first would hold all of them
        // at once.
        Scenario::new("fork pattern", "ns per fork")
            .contender("filch-deque strict", fork_pattern::<Strict>(forks))
            .contender("filch-deque lazy", fork_pattern::<Lazy>(forks))
            .contender("crossbeam-deque LIFO", fork_pattern::<CrossbeamLifo>(forks))
            .contender("st3 LIFO", fork_pattern::<St3Lifo>(forks))
            .contender("Mutex<VecDeque>", fork_pattern::<Locked>(forks)),
    ]
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
                victim.flush();
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

/// The owner pushes a burst of tasks and pops until nothing is left, while a thief that never rests
/// takes halves and runs them. A task is `nanoseconds` of arithmetic.
fn shared<D: Deque>(bursts: u64, nanoseconds: u64) -> impl FnMut() -> f64 {
    let turns = turns_in(nanoseconds);
    move || {
        let deque = D::new(2 * BURST);
        let stealer = deque.stealer();
        let done = AtomicBool::new(false);
        let finished = AtomicU64::new(0);
        let (done, finished) = (&done, &finished);
        let owner = move || {
            let mut own = 0;
            for _ in 0..bursts {
                fill(&deque, BURST);
                while let Some(task) = deque.pop() {
                    work(task, turns);
                    own += 1;
                }
            }
            finished.fetch_add(own, Ordering::Relaxed);
            done.store(true, Ordering::Release);
        };
        let thief = move || {
            let loot = D::new(2 * BURST);
            let mut own = 0;
            while !done.load(Ordering::Acquire) {
                let Some(task) = D::steal_half(&stealer, &loot, BURST) else {
                    spin_loop();
                    continue;
                };
                work(task, turns);
                own += 1;
                while let Some(task) = loot.pop() {
                    work(task, turns);
                    own += 1;
                }
            }
            finished.fetch_add(own, Ordering::Relaxed);
        };
        let elapsed = time_together(vec![Box::new(owner), Box::new(thief)]);
        let tasks = bursts * BURST as u64;
        assert_eq!(finished.load(Ordering::Relaxed), tasks);
        per_operation(elapsed, tasks)
    }
}

/// The same tasks, half of them for each of two owners from the start: what sharing would take if
/// it were free.
fn apart(bursts: u64, nanoseconds: u64) -> impl FnMut() -> f64 {
    let turns = turns_in(nanoseconds);
    move || {
        let owner = move || {
            let own = Unshared::new(BURST);
            for _ in 0..bursts / 2 {
                fill(&own, BURST);
                while let Some(task) = own.pop() {
                    work(task, turns);
                }
            }
        };
        let elapsed = time_together(vec![Box::new(owner), Box::new(owner)]);
        per_operation(elapsed, bursts / 2 * 2 * BURST as u64)
    }
}

/// The pattern of `join`, without thieves: a push before the first half, a pop after it.
fn fork_pattern<D: Deque>(repetitions: u64) -> impl FnMut() -> f64 {
    fn fork<D: Deque>(deque: &D, n: u64) -> u64 {
        if n < 2 {
            return 1;
        }
        deque.push(n - 2);
        let first = fork(deque, n - 1);
        let second = deque.pop().expect("there is no thief");
        first + fork(deque, second)
    }

    let deque = D::new(FILL);
    move || {
        let elapsed = time(|| {
            for _ in 0..repetitions {
                assert_eq!(fork(&deque, black_box(FORK_DEPTH)), FORKS + 1);
            }
        });
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
