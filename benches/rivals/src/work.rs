//! Work of a certain length.

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// A number of multiplications that takes so long on an idle core. It is not the clock that ends
/// them: a thread that loses its core in the middle has as much left as before.
#[derive(Clone, Copy)]
pub(crate) struct Work {
    multiplications: u64,
    length: Duration,
}

impl Work {
    /// Measures how fast this machine is when it is called first: before pools run.
    pub(crate) fn lasting(length: Duration) -> Self {
        static A_MICROSECOND: LazyLock<f64> = LazyLock::new(per_microsecond);
        Self {
            multiplications: (length.as_secs_f64() * 1e6 * *A_MICROSECOND) as u64,
            length,
        }
    }

    pub(crate) fn micros(length: u64) -> Self {
        Self::lasting(Duration::from_micros(length))
    }

    pub(crate) fn run(self) {
        multiply(self.multiplications);
    }

    /// Returns how long `times` of it take on an idle core.
    pub(crate) fn times(self, times: u64) -> Duration {
        self.length.mul_f64(times as f64)
    }
}

fn multiply(times: u64) {
    let mut product = 1u64;
    for _ in 0..times {
        product = black_box(product.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1));
    }
}

/// Multiplications a microsecond, by the fastest of many short trials: the others were disturbed.
fn per_microsecond() -> f64 {
    const TRIAL: u64 = 10_000;
    const TRIALS: u32 = 200;
    let trial = |_| {
        let started = Instant::now();
        multiply(TRIAL);
        started.elapsed()
    };
    let fastest = (0..TRIALS).map(trial).min().unwrap_or_default();
    TRIAL as f64 / (fastest.as_secs_f64() * 1e6)
}
