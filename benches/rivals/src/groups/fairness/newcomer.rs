//! The wait of a task that has never run for its first turn, and of a flooded process for its next.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::{Over, WARM_UP};
use crate::pools::{BlockingPool, Pool};
use crate::work::Work;

/// Processes with more messages than they get through.
pub(super) const FLOODED: usize = 16;

/// Messages that each of them has at any time: more than any contender handles in one turn.
pub(super) const BACKLOG: u64 = 2000;

/// The time from one newcomer to the next.
const PERIOD: Duration = Duration::from_millis(20);

/// Makes a task runnable, and sends the microseconds that it has waited when it runs.
fn come<P: Pool>(pool: &P, waited: &mpsc::Sender<f64>) {
    let (waited, came) = (waited.clone(), Instant::now());
    pool.spawn(move || {
        let micros = came.elapsed().as_secs_f64() * 1e6;
        waited.send(micros).expect("the caller counts them");
    });
}

/// Tasks that come beside flooded processes on one worker: microseconds until each runs.
///
/// The first ones come at once, when no process has had its first turn. Those that have not run
/// when `patience` is over see the end of the flood: they have waited at least as long.
pub(super) fn beside_flooded<P: Pool>(
    message: Work,
    newcomers: u64,
    patience: Duration,
) -> impl FnMut() -> Vec<f64> {
    move || {
        let pool = P::new(1);
        let over = Over::default();
        for _ in 0..FLOODED {
            let over = over.clone();
            pool.flooded(BACKLOG, move || {
                if over.not_yet() {
                    message.run();
                }
                over.not_yet()
            });
        }
        let (waited, waits) = mpsc::channel();
        for _ in 0..newcomers {
            come(&pool, &waited);
            thread::sleep(PERIOD);
        }
        over.after(&waits, newcomers as usize, patience)
    }
}

/// The longest pause of a flooded process on one worker, in milliseconds: from one of its messages
/// to the next, from the start to the first, or from the last to the end.
pub(super) fn longest_pause<P: Pool>(message: Work, length: Duration) -> impl FnMut() -> f64 {
    move || {
        let pool = P::new(1);
        let over = Over::default();
        let pauses: Vec<_> = (0..FLOODED).map(|_| Arc::new(Pauses::new())).collect();
        for pauses in &pauses {
            let (over, pauses) = (over.clone(), Arc::clone(pauses));
            pool.flooded(BACKLOG, move || {
                pauses.end_one();
                message.run();
                over.not_yet()
            });
        }
        thread::sleep(length);
        let longest = pauses.iter().map(|pauses| pauses.end_one());
        let longest = longest.max().unwrap_or_default();
        over.set();
        longest.as_secs_f64() * 1e3
    }
}

/// The pauses of one process.
struct Pauses {
    started: Instant,
    /// Nanoseconds from the start to the last message.
    last: AtomicU64,
    /// Nanoseconds.
    longest: AtomicU64,
}

impl Pauses {
    fn new() -> Self {
        Self {
            started: Instant::now(),
            last: AtomicU64::new(0),
            longest: AtomicU64::new(0),
        }
    }

    /// A pause has ended. Returns the longest so far.
    fn end_one(&self) -> Duration {
        let now = self.started.elapsed().as_nanos() as u64;
        let pause = now.saturating_sub(self.last.swap(now, Ordering::Relaxed));
        let longest = self.longest.fetch_max(pause, Ordering::Relaxed);
        Duration::from_nanos(longest.max(pause))
    }
}

/// Tasks that come just behind as many blocking calls: microseconds until each runs.
pub(super) fn beside_blocking_calls<P: BlockingPool>(
    workers: usize,
    calls: usize,
    call: Duration,
) -> impl FnMut() -> Vec<f64> {
    move || {
        let pool = P::new(workers);
        let left = Arc::new((Mutex::new(calls), Condvar::new()));
        thread::sleep(WARM_UP);
        for _ in 0..calls {
            let left = Arc::clone(&left);
            pool.spawn_blocking(move || {
                thread::sleep(call);
                let (count, changed) = &*left;
                *count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
                changed.notify_one();
            });
        }
        let (waited, waits) = mpsc::channel();
        come(&pool, &waited);
        let wait = waits.recv().expect("it runs");
        let (count, changed) = &*left;
        let count = count.lock().unwrap_or_else(PoisonError::into_inner);
        drop(changed.wait_while(count, |count| *count > 0));
        vec![wait]
    }
}
