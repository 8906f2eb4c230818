//! Both forms of a program side by side: the same answer, and how long each takes.

use std::fmt::Debug;
use std::num::NonZero;
use std::thread;
use std::time::{Duration, Instant};

use filch_fork_join::{Pool, Worker};

/// The best of so many runs.
const RUNS: usize = 3;

/// A pool with a thread for each core.
pub(crate) fn pool() -> Result<Pool, filch_fork_join::StartError> {
    Pool::new(thread::available_parallelism().map_or(1, NonZero::get))
}

/// Runs both forms, which must agree; prints their times and the speed-up. Returns the answer.
pub(crate) fn compare<R: Debug + PartialEq + Send>(
    what: &str,
    pool: &Pool,
    sequential: impl Fn() -> R,
    parallel: impl Fn(&Worker) -> R + Sync,
) -> R {
    let (expected, slow) = best_of(&sequential);
    let (answer, fast) = best_of(&|| pool.install(&parallel));
    assert!(answer == expected, "{what}: the two forms disagree");
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let speed_up = slow.as_secs_f64() / fast.as_secs_f64();
    println!("{what}");
    println!("  sequential {slow:>10.2?}");
    println!("  {threads} threads  {fast:>10.2?}   {speed_up:.2} times as fast");
    answer
}

fn best_of<R>(run: &impl Fn() -> R) -> (R, Duration) {
    let mut best = Duration::MAX;
    for round in 1.. {
        let since = Instant::now();
        let answer = run();
        best = best.min(since.elapsed());
        if round == RUNS {
            return (answer, best);
        }
    }
    unreachable!("the loop returns")
}
