//! Times the operations of one thread: `cargo bench`.
//!
//! Comparisons with other crates, and all that several threads do, are `cargo xtask bench`: there
//! the contenders take turns in one process, so that a slow minute falls on all of them.

use std::time::{Duration, Instant};

use criterion::{Bencher, Criterion};
use filch_operations::{Operation, Visitor, visit_all};

/// Shorter than criterion's own: an operation takes nanoseconds.
const WARM_UP: Duration = Duration::from_millis(500);
const MEASUREMENT: Duration = Duration::from_secs(2);

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(WARM_UP)
        .measurement_time(MEASUREMENT)
        .configure_from_args();
    visit_all(&mut Timer(&mut criterion));
    criterion.final_summary();
}

struct Timer<'a>(&'a mut Criterion);

impl Visitor for Timer<'_> {
    fn visit<O: Operation>(&mut self) {
        let mut operation = O::new();
        self.0
            .bench_function(O::NAME, |bencher| time(bencher, &mut operation));
    }
}

/// Whole rounds, of which `run` alone is timed; a part of a round counts in proportion.
fn time<O: Operation>(bencher: &mut Bencher<'_>, operation: &mut O) {
    bencher.iter_custom(|times| {
        let rounds = times.div_ceil(O::TIMES);
        let mut elapsed = Duration::ZERO;
        for _ in 0..rounds {
            operation.prepare();
            let started = Instant::now();
            operation.run();
            elapsed += started.elapsed();
            operation.restore();
        }
        elapsed.mul_f64(times as f64 / (rounds * O::TIMES) as f64)
    });
}
