//! Work of a certain length, and the number of threads that do it.

use std::hint::black_box;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Threads of every pool, unless another number is asked for.
pub(crate) const WORKERS: usize = 2;

/// The number of workers that is asked for; 0: none is.
static ASKED_FOR: AtomicUsize = AtomicUsize::new(0);

/// Threads of every pool that is made from now on and is not told otherwise.
pub(crate) fn workers() -> usize {
    those_or(&[WORKERS])[0]
}

/// The numbers of threads of a scenario that is usually measured with those.
pub(crate) fn those_or(usual: &[usize]) -> Vec<usize> {
    match ASKED_FOR.load(Ordering::Relaxed) {
        0 => usual.to_vec(),
        asked => vec![asked],
    }
}

/// Sets the number for the scenarios that are made from now on.
pub(crate) fn ask_for(workers: usize) {
    ASKED_FOR.store(workers, Ordering::Relaxed);
}

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
