//! The timing of a turn.
//!
//! A thread that has slept for a while may be woken on the core of another one of its pool, and
//! then it takes the system milliseconds to part them: as long as some of these programs take. And
//! while the other contenders have their turns, all threads of a pool sleep. So each turn begins
//! with work that is not timed.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::programs::Program;
use crate::clock::{per_operation, time};

/// Work before the clock starts.
const WARM_UP: Duration = Duration::from_millis(25);

/// A program that takes less is repeated, and its figure is the mean.
const AT_LEAST: Duration = Duration::from_millis(10);

/// Runs whose times are kept in a turn, if each of them counts.
const RUNS: usize = 5;

/// Measures an operation, in several runs; or in each of a few.
pub(super) fn timed(program: Program, run: &mut dyn FnMut() -> u64) -> Vec<f64> {
    let (operations, expected) = (program.operations(), program.result());
    let mut once = || assert_eq!(black_box(run()), expected);
    let began = Instant::now();
    while began.elapsed() < WARM_UP {
        once();
    }
    if program.counts_each_run() {
        let times = (0..RUNS).map(|_| time(&mut once));
        return times.map(|time| per_operation(time, operations)).collect();
    }
    let (mut runs, began) = (0, Instant::now());
    while runs == 0 || began.elapsed() < AT_LEAST {
        once();
        runs += 1;
    }
    vec![per_operation(began.elapsed(), operations * runs)]
}

/// Runs it once, untimed.
pub(super) fn once(program: Program, run: &mut dyn FnMut() -> u64) -> Vec<f64> {
    assert_eq!(run(), program.result());
    Vec::new()
}
