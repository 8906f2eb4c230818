//! What one waits for while others are busy, and how the time is shared: no figure here is a
//! throughput.
//!
//! Each round has a pool of its own, for there is work left in it. Where something comes from
//! outside, it comes from a thread that sleeps most of the time, since it shares the cores with the
//! workers; and what is to take its time computes a number of times, whatever the clock says.

pub(super) mod callers;
pub(super) mod contenders;
mod idle;
mod messages;
pub(super) mod mixture;
mod newcomer;
mod shares;
pub(super) mod work;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use callers::{Chain, Wait};
use contenders::{Async, Filch, Pool, Tokio};
use mixture::Mixture;
use work::Work;

use super::named;
use crate::harness::{Effort, Scenario};
use crate::rivals::WORKERS;

/// Until every worker is busy, or every worker sleeps.
pub(super) const WARM_UP: Duration = Duration::from_millis(50);

/// Blocking calls at once: more than the threads that a pool may have.
const CALLS: usize = 700;

/// How long each of them takes.
const CALL: Duration = Duration::from_millis(100);

/// Says when a round is over, to all that is still going on in the pool.
#[derive(Clone, Default)]
pub(super) struct Over(Arc<AtomicBool>);

impl Over {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn not_yet(&self) -> bool {
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

/// A scenario with each contender, whose turn is a function of its pool.
macro_rules! pools {
    ($scenario:expr, $add:ident, $module:ident::$turn:ident $arguments:tt) => {
        $scenario
            .$add(Filch::NAME, $module::$turn::<Filch> $arguments)
            .$add(Tokio::NAME, $module::$turn::<Tokio> $arguments)
            .$add(Async::NAME, $module::$turn::<Async> $arguments)
    };
}

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let all = shared(WORKERS, effort);
    let all = all.into_iter().map(|(_, scenario)| scenario);
    all.chain(flooded(effort)).collect()
}

/// The scenarios that say something about more workers than there are cores, too, and their names
/// without the number of workers.
pub(crate) fn curve(workers: usize, effort: Effort) -> Vec<(String, Scenario)> {
    shared(workers, effort)
}

fn shared(workers: usize, effort: Effort) -> Vec<(String, Scenario)> {
    let mut all = mixtures(workers, effort);
    all.extend(named(parts(workers, effort)));
    all.extend(named(sleepers(workers, effort)));
    all.extend(named(callers(workers, effort)));
    all
}

pub(super) fn titled(kind: &str, workers: usize, unit: &'static str) -> Scenario {
    if workers == WORKERS {
        Scenario::new(kind, unit)
    } else {
        Scenario::new(format!("{kind}, workers: {workers}"), unit)
    }
}

pub(super) fn micros(length: u64) -> Work {
    Work::lasting(Duration::from_micros(length))
}

/// So long, or less in a quick run.
fn length(effort: Effort, milliseconds: u64) -> Duration {
    Duration::from_millis(effort.operations(milliseconds))
}

/// A message to an idle process, beside others.
fn mixtures(workers: usize, effort: Effort) -> Vec<(String, Scenario)> {
    let beside = Mixture::of_processes().into_iter();
    let beside = beside.map(|mixture| (format!("message beside {}", mixture.name), mixture));
    let quiet = Mixture::quiet(Duration::from_millis(1));
    let count = effort.operations(150);
    let mixtures = beside.chain([("message to a pool asleep".to_owned(), quiet)]);
    let scenarios = mixtures.map(|(kind, mixture)| {
        let scenario = pools!(
            titled(&kind, workers, "us until it is taken"),
            latencies,
            messages::latencies(workers, mixture.clone(), count)
        );
        (kind, scenario)
    });
    scenarios.collect()
}

/// Shares of the time.
fn parts(workers: usize, effort: Effort) -> Vec<(&'static str, Scenario)> {
    let half_a_second = length(effort, 500);
    let (yielders, pairs) = ((16, micros(50)), (16, micros(5)));
    let (least, lesser, flooded) = (
        "least served of 64 pairs of 5 us",
        "16 yielders of 50 us and 16 pairs of 5 us, the lesser part",
        "16 pairs of 5 us beside a flood of 20 us from outside",
    );
    let scenario = |kind, unit| titled(kind, workers, unit).higher_is_better();
    vec![
        (
            least,
            pools!(
                scenario(least, "% of an equal share"),
                contender,
                shares::least_served(workers, 64, micros(5), half_a_second)
            ),
        ),
        (
            lesser,
            pools!(
                scenario(lesser, "% of the time"),
                contender,
                shares::lesser_part(workers, [yielders, pairs], half_a_second)
            ),
        ),
        (
            flooded,
            pools!(
                scenario(flooded, "% of the time"),
                contender,
                shares::beside_flood(workers, pairs, micros(20), half_a_second)
            ),
        ),
    ]
}

/// Workers that wait: in calls, or for something to do.
fn sleepers(workers: usize, effort: Effort) -> Vec<(&'static str, Scenario)> {
    let (calls, idle, ticking) = (
        "newcomer behind 700 blocking calls of 100 ms",
        "a scheduler asleep",
        "a message per millisecond",
    );
    let (length, ticks) = (length(effort, 500), effort.operations(400));
    vec![
        (
            calls,
            titled(calls, workers, "us until it runs")
                .latencies(
                    Filch::NAME,
                    newcomer::beside_blocking_calls::<Filch>(workers, CALLS, CALL),
                )
                .latencies(
                    "tokio, block_in_place",
                    newcomer::beside_blocking_calls::<Tokio>(workers, CALLS, CALL),
                ),
        ),
        (
            idle,
            pools!(
                titled(idle, workers, "% of a core"),
                contender,
                idle::asleep(workers, length)
            ),
        ),
        (
            ticking,
            pools!(
                titled(ticking, workers, "% of a core"),
                contender,
                idle::ticking(workers, ticks)
            ),
        ),
    ]
}

/// Threads outside that wait for one process after the other.
fn callers(workers: usize, effort: Effort) -> Vec<(&'static str, Scenario)> {
    let count = effort.operations(5_000);
    let (execute, join, call) = (
        "execute one step on an idle pool",
        "submit one step to an idle pool, then join",
        "call a process of an idle pool",
    );
    let waits = |kind| titled(kind, workers, "us until it is done");
    let mut all = vec![
        (
            execute,
            pools!(
                waits(execute),
                latencies,
                callers::latencies(workers, count, Wait::Execute)
            ),
        ),
        (
            join,
            pools!(
                waits(join),
                latencies,
                callers::latencies(workers, count, Wait::SubmitThenJoin)
            ),
        ),
        (
            call,
            pools!(
                titled(call, workers, "us until the answer"),
                latencies,
                callers::latencies(workers, count, Wait::Call)
            ),
        ),
    ];
    let pause = Some(Duration::from_micros(50));
    let chains = [
        (
            "a process of 20 us steps beside a caller",
            Chain::Single,
            Wait::Execute,
            pause,
        ),
        (
            "a pair of 20 us steps beside a caller",
            Chain::Pair,
            Wait::Execute,
            pause,
        ),
        (
            "a process of 20 us steps beside a restless caller",
            Chain::Single,
            Wait::Execute,
            None,
        ),
        (
            "a pair of 20 us steps beside a restless caller",
            Chain::Pair,
            Wait::Execute,
            None,
        ),
        (
            "a process of 20 us steps beside calls",
            Chain::Single,
            Wait::Call,
            pause,
        ),
        (
            "a pair of 20 us steps beside calls",
            Chain::Pair,
            Wait::Call,
            pause,
        ),
    ];
    let length = length(effort, 300);
    all.extend(chains.map(|(kind, chain, wait, pause)| {
        let scenario = titled(kind, workers, "% of the steps that fit").higher_is_better();
        let step = micros(20);
        let chain = pools!(
            scenario,
            contender,
            callers::chain_beside(workers, chain, step, (wait, pause), length)
        );
        (kind, chain)
    }));
    all
}

/// Processes that do not get through their messages, on one worker.
fn flooded(effort: Effort) -> Vec<Scenario> {
    let newcomers = effort.operations(40);
    let (patience, long_enough) = (length(effort, 3000), length(effort, 2000));
    let pause = "longest pause of 16 flooded processes, 20 us a message";
    let waits = [
        ("newcomer beside 16 flooded, 20 us a message", micros(20)),
        ("newcomer beside 16 flooded, 200 us a message", micros(200)),
    ];
    let waits = waits.into_iter().map(|(name, message)| {
        pools!(
            Scenario::new(name, "us until it runs"),
            latencies,
            newcomer::beside_flooded(message, newcomers, patience)
        )
    });
    let pause = pools!(
        Scenario::new(pause, "ms"),
        contender,
        newcomer::longest_pause(micros(20), long_enough)
    );
    waits.chain([pause]).collect()
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
