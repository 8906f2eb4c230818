//! Waits of one while others are busy, and the shares of the time: no figure here is a throughput.
//!
//! Each round has a pool of its own, for there is work left in it. Where something comes from
//! outside, it comes from a thread that sleeps most of the time, since it shares the cores with the
//! workers; and what is to take its time computes a number of times, whatever the clock says.

pub(super) mod mixture;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use self::mixture::Kind::{Caller, Flood, Pairs, Yielders};
use self::mixture::{BLOCKING, Busy, CALL, CALLS, Steps};
use crate::clock::time;
use crate::harness::Scenario;
use crate::pools::{BlockingPool, Pool, Talking, Tokio, start};
use crate::work::workers;

/// The time until every worker is busy, or every worker sleeps.
pub(super) const WARM_UP: Duration = Duration::from_millis(50);

/// Says when a round is over, to all that is still going on in the pool.
#[derive(Clone, Default)]
pub(super) struct Over(Arc<AtomicBool>);

impl Over {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn not_yet(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }

    /// Sets it when so many have come, or patience is over. Those that are late see the end of what
    /// kept them: they have waited at least as long.
    pub(super) fn after<T>(
        &self,
        coming: &Receiver<T>,
        count: usize,
        patience: Duration,
    ) -> Vec<T> {
        let patient = Instant::now() + patience;
        let in_time = |_| {
            let left = patient.saturating_duration_since(Instant::now());
            coming.recv_timeout(left).ok()
        };
        let mut all: Vec<T> = (0..count).map_while(in_time).collect();
        self.set();
        let late = count - all.len();
        all.extend(coming.iter().take(late));
        all
    }
}

/// A scenario with each contender. Its turn is generic over the pool `$P`.
macro_rules! pools {
    ($scenario:expr, $add:ident, |$P:ident| $turn:expr) => {{
        let scenario = $scenario;
        pools!(scenario, $add, |$P| $turn; Talking Tokio Async)
    }};
    ($scenario:ident, $add:ident, |$P:ident| $turn:expr; $($pool:ident)*) => {{
        $(let $scenario = {
            type $P = $crate::pools::$pool;
            $scenario.$add($P::NAME, $turn)
        };)*
        $scenario
    }};
}

pub(super) use pools;

pub(crate) fn scenarios() -> Vec<Scenario> {
    let length = Duration::from_millis(62);
    let mut all = shares(workers(), length);
    all.push(behind_calls(workers()));
    all.push(executions(workers(), 625));
    all
}

/// A figure made of the time that each of those took that are busy, that of the round, and that of
/// the cores on which its workers may be.
type Figure = fn(&[f64], f64, f64) -> f64;

/// Makes the scenarios of sharing the time. What a flood, or a caller, gets is not looked at.
fn shares(workers: usize, length: Duration) -> Vec<Scenario> {
    fn least(took: &[f64]) -> f64 {
        took.iter().copied().fold(f64::INFINITY, f64::min)
    }
    let (equal, of_time) = ("% of an equal share", "% of the time");
    let pause = Some(Duration::from_micros(50));
    let table: [(_, _, _, Figure); 3] = [
        (
            "least served of 64 pairs of 5 us".to_owned(),
            equal,
            vec![Busy::of(Pairs(1), 5); 64],
            |took, _, _| least(took) / (took.iter().sum::<f64>() / took.len() as f64),
        ),
        (
            "16 yielders of 50 us and 16 pairs of 5 us, the lesser part".to_owned(),
            of_time,
            vec![Busy::of(Yielders(16), 50), Busy::of(Pairs(16), 5)],
            |took, _, of_cores| least(took) / of_cores,
        ),
        (
            "16 pairs of 5 us beside a flood of 20 us from outside".to_owned(),
            of_time,
            vec![Busy::of(Pairs(16), 5), Busy::of(Flood, 20)],
            |took, _, of_cores| took[0] / of_cores,
        ),
    ];
    let callers = [("a caller", pause), ("a restless caller", None)];
    let beside = callers.into_iter().flat_map(|(who, pause)| {
        let chains = [
            ("a process", Busy::of(Yielders(1), 20)),
            ("a pair", Busy::of(Pairs(1), 20)),
        ];
        chains.map(|(what, chain)| {
            let name = format!("{what} of 20 us steps beside {who}");
            let figure: Figure = |took, elapsed, _| took[0] / elapsed;
            let busy = vec![chain, Busy::of(Caller(pause), 0)];
            (name, "% of the steps that fit", busy, figure)
        })
    });
    let all = table.into_iter().chain(beside);
    all.map(|(kind, unit, busy, figure)| {
        let scenario = Scenario::of_workers(&kind, workers, unit).higher_is_better();
        pools!(scenario, contender, |P| {
            let busy = busy.clone();
            move || 100.0 * share::<P>(workers, &busy, length, figure)
        })
    })
    .collect()
}

/// Measures those that are busy in a pool of their own.
fn share<P: Pool>(workers: usize, busy: &[Busy], length: Duration, figure: Figure) -> f64 {
    let pool = P::with_workers(workers);
    let over = Over::default();
    let steps: Vec<_> = busy.iter().map(|&busy| Steps::of(busy, &over)).collect();
    thread::scope(|scope| {
        for (busy, steps) in busy.iter().zip(&steps) {
            let pool = &pool;
            scope.spawn(move || busy.keep(pool, steps));
        }
        thread::sleep(WARM_UP);
        let taken = || steps.iter().map(Steps::taken).collect::<Vec<_>>();
        let (before, started) = (taken(), Instant::now());
        thread::sleep(length);
        let (after, elapsed) = (taken(), started.elapsed().as_secs_f64());
        over.set();
        let steps = after
            .iter()
            .zip(before)
            .map(|(after, before)| after - before);
        let took = busy.iter().zip(steps);
        let took = took.map(|(busy, steps)| busy.step.times(steps).as_secs_f64());
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let of_cores = elapsed * workers.min(cores) as f64;
        figure(&took.collect::<Vec<_>>(), elapsed, of_cores)
    })
}

/// A task that comes just behind more blocking calls than a pool may have threads.
fn behind_calls(workers: usize) -> Scenario {
    fn wait<P: BlockingPool>(workers: usize) -> impl FnMut() -> Vec<f64> {
        move || {
            let pool = P::with_workers(workers);
            thread::sleep(WARM_UP);
            let (sender, waits) = mpsc::channel();
            for _ in 0..CALLS {
                let until_it_returns = sender.clone();
                pool.spawn_blocking(move || {
                    thread::sleep(CALL);
                    drop(until_it_returns);
                });
            }
            let came = Instant::now();
            pool.spawn(move || {
                let micros = came.elapsed().as_secs_f64() * 1e6;
                sender.send(micros).expect("it is received");
            });
            // One, when all calls have returned.
            waits.iter().collect()
        }
    }

    let kind = format!("newcomer behind {BLOCKING}");
    Scenario::of_workers(&kind, workers, "us until it runs")
        .latencies(Talking::NAME, wait::<Talking>(workers))
        .latencies("tokio, block_in_place", wait::<Tokio>(workers))
}

/// A thread outside that waits for one process after the other, each of one step.
fn executions(workers: usize, count: u64) -> Scenario {
    fn latencies<P: Pool>(
        workers: usize,
        count: u64,
        execute: impl Fn(&P),
    ) -> impl FnMut() -> Vec<f64> {
        move || {
            let pool = P::with_workers(workers);
            thread::sleep(WARM_UP);
            let calls = (0..count).map(|_| time(|| execute(&pool)).as_secs_f64() * 1e6);
            calls.collect()
        }
    }

    let kind = "execute one step on an idle pool";
    let scenario = Scenario::of_workers(kind, workers, "us until it is done");
    pools!(scenario, latencies, |P| latencies(
        workers,
        count,
        P::execute
    ))
    .latencies(
        "filch-scheduler, submit, then join",
        latencies(workers, count, |pool: &Talking| {
            let process = start(pool, |_, _, out| out.done(0));
            process.join().expect("it is done");
        }),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::Over;

    #[test]
    fn what_is_late_comes_when_it_is_over() {
        let over = Over::default();
        let (sender, coming) = mpsc::channel();
        sender.send("in time").expect("it is received");
        thread::scope(|scope| {
            scope.spawn(|| {
                // An end that is never told is to fail here, and not to hang.
                let is_over = (0..1 << 24).any(|_| {
                    thread::yield_now();
                    !over.not_yet()
                });
                let late = if is_over { "late" } else { "nobody said so" };
                sender.send(late).expect("it is received");
            });
            let came = over.after(&coming, 2, Duration::ZERO);
            assert_eq!(came, ["in time", "late"]);
        });
    }
}
