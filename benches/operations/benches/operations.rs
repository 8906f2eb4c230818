//! How long an operation of one thread takes: `cargo bench`.
//!
//! Comparisons with other crates, and all that several threads do, are `cargo xtask bench`: there
//! the contenders take turns in one process, so that a slow minute falls on all of them.

use std::time::{Duration, Instant};

use criterion::Criterion;
use filch_operations::{ALL, Measure};

/// Shorter than criterion's own: an operation takes nanoseconds.
const WARM_UP: Duration = Duration::from_millis(500);
const MEASUREMENT: Duration = Duration::from_secs(2);

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(WARM_UP)
        .measurement_time(MEASUREMENT)
        .configure_from_args();
    for operation in ALL {
        criterion.bench_function(operation.name, |bencher| {
            // Whole rounds; a part of a round counts in proportion.
            bencher.iter_custom(|times| {
                let rounds = times.div_ceil(operation.times);
                let mut timer = Timer {
                    rounds,
                    done: 0,
                    elapsed: Duration::ZERO,
                };
                (operation.run)(&mut timer);
                let did = (rounds * operation.times) as f64;
                timer.elapsed.mul_f64(times as f64 / did)
            });
        });
    }
    criterion.final_summary();
}

struct Timer {
    rounds: u64,
    done: u64,
    /// Of all but the first round, in which memory is allocated, and which is one more.
    elapsed: Duration,
}

impl Measure for Timer {
    fn goes_on(&mut self) -> bool {
        self.done <= self.rounds
    }

    fn round(&mut self, work: &mut dyn FnMut()) {
        let started = Instant::now();
        work();
        let elapsed = started.elapsed();
        if self.done > 0 {
            self.elapsed += elapsed;
        }
        self.done += 1;
    }
}
