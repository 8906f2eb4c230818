//! The timing of a turn.
//!
//! A thread that has slept for a while may be woken on the core of another one of its pool, and
//! then it takes the system milliseconds to part them: as long as some of these programs take. And
//! while the other contenders have their turns, all threads of a pool sleep. So each turn begins
//! with work that is not timed.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::clock::{per_operation, time};

/// Work before the clock starts.
const WARM_UP: Duration = Duration::from_millis(25);

/// A program that takes less is repeated, and its figure is the mean.
const AT_LEAST: Duration = Duration::from_millis(10);

/// Runs whose times are kept in a turn, if each of them counts.
const RUNS: usize = 5;

fn warm_up<R>(run: &mut impl FnMut() -> R) {
    let began = Instant::now();
    while began.elapsed() < WARM_UP {
        black_box(run());
    }
}

/// Measures an operation, of so many that a run does. Each run returns `expected`.
pub(super) fn timed<R>(operations: u64, expected: R, mut run: impl FnMut() -> R) -> f64
where
    R: PartialEq + std::fmt::Debug,
{
    warm_up(&mut run);
    let (mut runs, began) = (0, Instant::now());
    while runs == 0 || began.elapsed() < AT_LEAST {
        assert_eq!(black_box(run()), expected);
        runs += 1;
    }
    per_operation(began.elapsed(), operations * runs)
}

/// Measures an operation in each of a few runs.
pub(super) fn each<R>(operations: u64, expected: R, mut run: impl FnMut() -> R) -> Vec<f64>
where
    R: PartialEq + std::fmt::Debug,
{
    warm_up(&mut run);
    let mut one = || {
        let elapsed = time(|| assert_eq!(black_box(run()), expected));
        per_operation(elapsed, operations)
    };
    (0..RUNS).map(|_| one()).collect()
}
