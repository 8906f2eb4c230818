//! Times the operations of one thread: `cargo bench`.
//!
//! Comparisons with other crates, and all that several threads do, are `cargo xtask bench`: there
//! the contenders take turns in one process, so that a slow minute falls on all of them.

use std::time::{Duration, Instant};

use criterion::{Bencher, Criterion};
use filch_operations::{Operation, Step, operations};

/// Shorter than criterion's own: an operation takes nanoseconds.
const WARM_UP: Duration = Duration::from_millis(500);
const MEASUREMENT: Duration = Duration::from_secs(2);

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(WARM_UP)
        .measurement_time(MEASUREMENT)
        .configure_from_args();
    for operation in operations() {
        criterion.bench_function(operation.name, |bencher| time(bencher, &operation));
    }
    criterion.final_summary();
}

/// Whole rounds, of which `Run` alone is timed; a part of a round counts in proportion.
fn time(bencher: &mut Bencher<'_>, operation: &Operation) {
    let mut step = (operation.start)();
    bencher.iter_custom(|times| {
        let rounds = times.div_ceil(operation.times);
        let mut elapsed = Duration::ZERO;
        for _ in 0..rounds {
            step(Step::Prepare);
            let started = Instant::now();
            step(Step::Run);
            elapsed += started.elapsed();
            step(Step::Restore);
        }
        elapsed.mul_f64(times as f64 / (rounds * operation.times) as f64)
    });
}
