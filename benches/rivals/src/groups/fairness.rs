//! Waits of one while others are busy, and the shares of the time: no figure here is a throughput.
//!
//! Each round has a pool of its own, for there is work left in it. Where something comes from
//! outside, it comes from a thread that sleeps most of the time, since it shares the cores with the
//! workers; and what is to take its time computes a number of times, whatever the clock says.

mod callers;
pub(super) mod mixture;
mod newcomer;
mod shares;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use callers::{Chain, Wait};

use crate::harness::{Effort, Scenario};
use crate::pools::{Async, Pool, Talking, Tokio};
use crate::processor_time::load;
use crate::work::Work;
use crate::workers::workers;

/// The time until every worker is busy, or every worker sleeps.
pub(super) const WARM_UP: Duration = Duration::from_millis(50);

/// Blocking calls at once: more than the threads that a pool may have.
const CALLS: usize = 700;

/// The length of each of them.
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

/// A scenario with each contender. Its turn is generic over the pool `$P`.
macro_rules! pools {
    ($scenario:expr, $add:ident, |$P:ident| $turn:expr) => {
        pools!($scenario, $add, |$P| $turn; Talking, Tokio, Async)
    };
    ($scenario:expr, $add:ident, |$P:ident| $turn:expr; $($pool:ty),*) => {{
        let scenario = $scenario;
        $(
            let scenario = {
                type $P = $pool;
                scenario.$add(<$pool>::NAME, $turn)
            };
        )*
        scenario
    }};
}

pub(super) use pools;

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let workers = workers();
    let mut all = shares(workers, effort);
    all.extend(sleepers(workers, effort));
    all.extend(callers(workers, effort));
    all.extend(flooded(effort));
    all
}

/// Returns that length, or less in a quick run.
fn length(effort: Effort, milliseconds: u64) -> Duration {
    Duration::from_millis(effort.operations(milliseconds))
}

/// Makes the scenarios of sharing the time.
fn shares(workers: usize, effort: Effort) -> Vec<Scenario> {
    let length = length(effort, 500);
    let (yielders, pairs) = ((16, Work::micros(50)), (16, Work::micros(5)));
    let scenario = |kind, unit| Scenario::of_workers(kind, workers, unit).higher_is_better();
    vec![
        pools!(
            scenario("least served of 64 pairs of 5 us", "% of an equal share"),
            contender,
            |P| shares::least_served::<P>(workers, 64, Work::micros(5), length)
        ),
        pools!(
            scenario(
                "16 yielders of 50 us and 16 pairs of 5 us, the lesser part",
                "% of the time"
            ),
            contender,
            |P| shares::lesser_part::<P>(workers, [yielders, pairs], length)
        ),
        pools!(
            scenario(
                "16 pairs of 5 us beside a flood of 20 us from outside",
                "% of the time"
            ),
            contender,
            |P| shares::beside_flood::<P>(workers, pairs, Work::micros(20), length)
        ),
    ]
}

/// Workers that wait: in calls, or for something to do.
fn sleepers(workers: usize, effort: Effort) -> Vec<Scenario> {
    let (length, ticks) = (length(effort, 500), effort.operations(400));
    let scenario = |kind, unit| Scenario::of_workers(kind, workers, unit);
    let calls = scenario(
        "newcomer behind 700 blocking calls of 100 ms",
        "us until it runs",
    );
    vec![
        calls
            .latencies(
                Talking::NAME,
                newcomer::beside_blocking_calls::<Talking>(workers, CALLS, CALL),
            )
            .latencies(
                "tokio, block_in_place",
                newcomer::beside_blocking_calls::<Tokio>(workers, CALLS, CALL),
            ),
        pools!(
            scenario("a scheduler asleep", "% of a core"),
            contender,
            |P| beside_a_sleeper::<P>(workers, move |_| thread::sleep(length))
        ),
        pools!(
            scenario("a message per millisecond", "% of a core"),
            contender,
            |P| beside_a_sleeper::<P>(workers, move |send| {
                for number in 0..ticks {
                    thread::sleep(Duration::from_millis(1));
                    send(number);
                }
            })
        ),
    ]
}

/// The processor time of the whole process during `work`, which may send to an idle process, in per
/// cent of one core. A new pool for each round: those of the other contenders do not exist
/// meanwhile, not even asleep.
fn beside_a_sleeper<P: Pool>(workers: usize, work: impl Fn(&dyn Fn(u64))) -> impl FnMut() -> f64 {
    move || {
        let pool = P::new(workers);
        let receiver = pool.actor(|_| {});
        let send = |number| assert!(P::send(&receiver, number));
        send(0);
        thread::sleep(WARM_UP);
        load(|| work(&send))
    }
}

/// Threads outside that wait for one process after the other.
fn callers(workers: usize, effort: Effort) -> Vec<Scenario> {
    let count = effort.operations(5_000);
    let waits = [
        (
            "execute one step on an idle pool",
            Wait::Execute,
            "us until it is done",
        ),
        (
            "submit one step to an idle pool, then join",
            Wait::SubmitThenJoin,
            "us until it is done",
        ),
        (
            "call a process of an idle pool",
            Wait::Call,
            "us until the answer",
        ),
    ];
    let waits = waits.map(|(kind, wait, unit)| {
        let scenario = Scenario::of_workers(kind, workers, unit);
        pools!(scenario, latencies, |P| callers::latencies::<P>(
            workers, count, wait
        ))
    });
    let pause = Some(Duration::from_micros(50));
    let length = length(effort, 300);
    let chains = [
        ("a caller", Wait::Execute, pause),
        ("a restless caller", Wait::Execute, None),
        ("calls", Wait::Call, pause),
    ];
    let chains = chains.into_iter().flat_map(|(who, wait, pause)| {
        [("a process", Chain::Single), ("a pair", Chain::Pair)].map(|(what, chain)| {
            let kind = format!("{what} of 20 us steps beside {who}");
            let scenario = Scenario::of_workers(&kind, workers, "% of the steps that fit");
            pools!(scenario.higher_is_better(), contender, |P| {
                callers::chain_beside::<P>(workers, chain, Work::micros(20), (wait, pause), length)
            })
        })
    });
    waits.into_iter().chain(chains).collect()
}

/// Processes that do not get through their messages, on one worker.
fn flooded(effort: Effort) -> Vec<Scenario> {
    let newcomers = effort.operations(40);
    let (patience, long_enough) = (length(effort, 3000), length(effort, 2000));
    let waits = [20, 200].map(|micros| {
        let name = format!("newcomer beside 16 flooded, {micros} us a message");
        pools!(Scenario::new(name, "us until it runs"), latencies, |P| {
            newcomer::beside_flooded::<P>(Work::micros(micros), newcomers, patience)
        })
    });
    let pause = Scenario::new(
        "longest pause of 16 flooded processes, 20 us a message",
        "ms",
    );
    let pause = pools!(pause, contender, |P| newcomer::longest_pause::<P>(
        Work::micros(20),
        long_enough
    ));
    waits.into_iter().chain([pause]).collect()
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
