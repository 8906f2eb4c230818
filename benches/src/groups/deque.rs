//! Work-stealing deques: the owner's two methods, and a thief's half.
//!
//! All contenders are LIFO for their owner and hold words; none of them has to grow after the first round.

use std::hint::black_box;
use std::time::Duration;

use filch_deque as filch;

use crate::floor::uncontended_rmws;
use crate::harness::{Effort, Scenario, per_operation, time};

/// How many items a filled deque holds.
const FILL: usize = 256;

/// Victims that a thief visits in one timed stretch, so that reading the clock is spread over many items.
const VICTIMS: usize = 16;

/// What the scenarios need from a deque.
trait Deque: 'static {
    type Stealer;

    /// Empty, with room for `capacity` items.
    fn new(capacity: usize) -> Self;
    fn push(&self, item: u64);
    fn pop(&self) -> Option<u64>;
    fn stealer(&self) -> Self::Stealer;
    /// Steals half of what is there, at most `FILL / 2`: one item comes back, the others go to `thief`.
    fn steal_half(stealer: &Self::Stealer, thief: &Self) -> Option<u64>;
}

impl Deque for filch::Worker<u64> {
    type Stealer = filch::Stealer<u64>;

    fn new(capacity: usize) -> Self {
        Self::with_capacity(capacity)
    }

    fn push(&self, item: u64) {
        self.push(item);
    }

    fn pop(&self) -> Option<u64> {
        self.pop()
    }

    fn stealer(&self) -> Self::Stealer {
        self.stealer()
    }

    fn steal_half(stealer: &Self::Stealer, thief: &Self) -> Option<u64> {
        match stealer.steal_half_into(thief, FILL / 2) {
            filch::Steal::Success(item) => Some(item),
            filch::Steal::Empty | filch::Steal::Retry => None,
        }
    }
}

impl Deque for crossbeam_deque::Worker<u64> {
    type Stealer = crossbeam_deque::Stealer<u64>;

    fn new(_capacity: usize) -> Self {
        // It grows to the same size in the discarded round.
        Self::new_lifo()
    }

    fn push(&self, item: u64) {
        self.push(item);
    }

    fn pop(&self) -> Option<u64> {
        self.pop()
    }

    fn stealer(&self) -> Self::Stealer {
        self.stealer()
    }

    fn steal_half(stealer: &Self::Stealer, thief: &Self) -> Option<u64> {
        // Without an explicit limit it stops at 32 items.
        let stolen = stealer.steal_batch_with_limit_and_pop(thief, FILL / 2);
        stolen.success()
    }
}

impl Deque for st3::lifo::Worker<u64> {
    type Stealer = st3::lifo::Stealer<u64>;

    fn new(capacity: usize) -> Self {
        Self::new(capacity)
    }

    fn push(&self, item: u64) {
        self.push(item).expect("sized for the scenario");
    }

    fn pop(&self) -> Option<u64> {
        self.pop()
    }

    fn stealer(&self) -> Self::Stealer {
        self.stealer()
    }

    fn steal_half(stealer: &Self::Stealer, thief: &Self) -> Option<u64> {
        let stolen = stealer.steal_and_pop(thief, |there| there / 2);
        stolen.ok().map(|(item, _)| item)
    }
}

type Filch = filch::Worker<u64>;
type Crossbeam = crossbeam_deque::Worker<u64>;
type St3 = st3::lifo::Worker<u64>;

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let single = effort.operations(4_000_000);
    let bursts = effort.operations(16_000);
    let steals = effort.operations(1_000);
    vec![
        Scenario::new("depth 1", "ns per push and pop")
            .contender("filch-deque", depth_one::<Filch>(single))
            .contender("crossbeam-deque LIFO", depth_one::<Crossbeam>(single))
            .contender("st3 LIFO", depth_one::<St3>(single))
            .floor("one uncontended RMW", uncontended_rmws(1, single)),
        Scenario::new("256 pushes, 256 pops", "ns per push and pop")
            .contender("filch-deque", burst::<Filch>(bursts))
            .contender("crossbeam-deque LIFO", burst::<Crossbeam>(bursts))
            .contender("st3 LIFO", burst::<St3>(bursts))
            .floor("one uncontended RMW", uncontended_rmws(1, single)),
        Scenario::new("steal half of 256", "ns per item stolen")
            .contender("filch-deque", steal::<Filch>(steals))
            .contender("crossbeam-deque LIFO", steal::<Crossbeam>(steals))
            .contender("st3 LIFO", steal::<St3>(steals)),
    ]
}

fn depth_one<D: Deque>(operations: u64) -> impl FnMut() -> f64 {
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

fn burst<D: Deque>(bursts: u64) -> impl FnMut() -> f64 {
    let deque = D::new(FILL);
    move || {
        let elapsed = time(|| {
            for _ in 0..bursts {
                fill(&deque);
                for item in (0..FILL as u64).rev() {
                    assert_eq!(black_box(deque.pop()), Some(item));
                }
            }
        });
        per_operation(elapsed, bursts * FILL as u64)
    }
}

fn steal<D: Deque>(repetitions: u64) -> impl FnMut() -> f64 {
    let thief = D::new(VICTIMS * FILL / 2);
    let victims: [D; VICTIMS] = std::array::from_fn(|_| D::new(FILL));
    let stealers = victims.each_ref().map(D::stealer);
    move || {
        let mut elapsed = Duration::ZERO;
        for _ in 0..repetitions {
            victims.iter().for_each(fill);
            elapsed += time(|| {
                for stealer in &stealers {
                    assert!(black_box(D::steal_half(stealer, &thief)).is_some());
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

fn fill(deque: &impl Deque) {
    for item in 0..FILL as u64 {
        deque.push(black_box(item));
    }
}

fn drain(deque: &impl Deque) -> usize {
    std::iter::from_fn(|| deque.pop()).count()
}
