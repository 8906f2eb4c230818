//! Scenarios, contenders and rounds.
//!
//! A machine's speed drifts: clocks change, neighbours come and go. The contenders of a scenario
//! therefore take turns in one process, in a new random order each round, so that a slow minute
//! falls on all of them. The first round warms caches, allocators and branch predictors, and is
//! thrown away.
//!
//! Some operations can be timed one by one and take one of two very different times: a wake-up on
//! the same core or on another. There the contenders take turns after each operation, and a round's
//! figure is the median. Where the slowest operations matter, a turn returns the latency of each.

use std::hint;
use std::sync::{Barrier, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use filch_report::estimate::median;
use filch_report::run::{self, Better, Role};

use crate::bar::Bar;
use crate::measured::{Measured, Series};

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Rounds that count.
    pub(crate) rounds: usize,
    /// Operations of a round are divided by this.
    divisor: u64,
}

impl Effort {
    pub(crate) const FULL: Self = Self {
        rounds: run::Effort::ENOUGH_ROUNDS,
        divisor: 1,
    };
    /// As few as have an interval.
    pub(crate) const QUICK: Self = Self {
        rounds: 6,
        divisor: 8,
    };

    /// How many operations a round of a contender does, where a full run does `full`.
    pub(crate) fn operations(self, full: u64) -> u64 {
        (full / self.divisor).max(1)
    }
}

/// What the names of our contenders begin with.
const OURS: &str = "filch";

/// The same work, done by several contenders.
pub(crate) struct Scenario {
    name: String,
    unit: &'static str,
    better: Better,
    /// Turns of each contender in a round.
    samples: u64,
    contenders: Vec<Contender>,
    bars: Vec<Bar>,
}

struct Contender {
    name: &'static str,
    role: Role,
    turn: Turn,
}

/// Does the work once.
enum Turn {
    /// Returns its figure.
    Figure(Box<dyn FnMut() -> f64>),
    /// Returns the latency of each operation.
    Latencies(Box<dyn FnMut() -> Vec<f64>>),
}

impl Scenario {
    /// A scenario whose figures are in `unit`: times, bytes, or shares of a core. Lower is better,
    /// unless [said otherwise](Self::higher_is_better).
    pub(crate) fn new(name: impl Into<String>, unit: &'static str) -> Self {
        Self {
            name: name.into(),
            unit,
            better: Better::Lower,
            samples: 1,
            contenders: Vec::new(),
            bars: Vec::new(),
        }
    }

    /// Each contender has `samples` turns a round, and the median of their figures counts.
    pub(crate) fn sampled(mut self, samples: u64) -> Self {
        self.samples = samples;
        self
    }

    pub(crate) fn higher_is_better(mut self) -> Self {
        self.better = Better::Higher;
        self
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Only the contenders whose name contains `wanted`.
    pub(crate) fn keep(&mut self, wanted: &str) {
        self.contenders
            .retain(|contender| contender.name.contains(wanted));
    }

    /// Their names, in order.
    pub(crate) fn contenders(&self) -> Vec<&'static str> {
        self.contenders.iter().map(|one| one.name).collect()
    }

    /// `turn` does the work once and returns its figure.
    pub(crate) fn contender(self, name: &'static str, turn: impl FnMut() -> f64 + 'static) -> Self {
        self.taking(name, Turn::Figure(Box::new(turn)))
    }

    /// `turn` does the work once and returns the latency of each operation. A round's figure is
    /// their median; the report adds quantiles over the latencies of all rounds.
    pub(crate) fn latencies(
        self,
        name: &'static str,
        turn: impl FnMut() -> Vec<f64> + 'static,
    ) -> Self {
        self.taking(name, Turn::Latencies(Box::new(turn)))
    }

    fn taking(mut self, name: &'static str, turn: Turn) -> Self {
        let role = if name.starts_with(OURS) {
            Role::Ours
        } else {
            Role::Rival
        };
        self.contenders.push(Contender { name, role, turn });
        self
    }

    /// Adds a floor, which is no rival: the cost of the least that such work needs.
    pub(crate) fn floor(mut self, name: &'static str, turn: impl FnMut() -> f64 + 'static) -> Self {
        self = self.contender(name, turn);
        self.contenders.last_mut().expect("it was just added").role = Role::Floor;
        self
    }

    pub(crate) fn bar(mut self, bar: Bar) -> Self {
        self.bars.push(bar);
        self
    }

    /// One discarded round, then `rounds` that count.
    pub(crate) fn measure(mut self, rounds: usize, seed: u64) -> Measured {
        let mut random = Random::new(seed);
        let new_series = |contender: &Contender| Series::new(contender.name, contender.role);
        let mut series: Vec<Series> = self.contenders.iter().map(new_series).collect();
        let mut order: Vec<usize> = (0..series.len()).collect();
        for round in 0..=rounds {
            let mut figures = vec![Vec::new(); series.len()];
            for _ in 0..self.samples {
                random.shuffle(&mut order);
                for &index in &order {
                    match &mut self.contenders[index].turn {
                        Turn::Figure(turn) => figures[index].push(turn()),
                        Turn::Latencies(turn) => {
                            let latencies = turn();
                            if round > 0 {
                                series[index].add_latencies(&latencies);
                            }
                            figures[index].extend(latencies);
                        }
                    }
                }
            }
            if round > 0 {
                for (one, figures) in series.iter_mut().zip(figures) {
                    one.add_round(median(&figures));
                }
            }
        }
        Measured {
            scenario: self.name,
            unit: self.unit,
            better: self.better,
            series,
            bars: self.bars,
        }
    }
}

/// Nanoseconds per operation.
pub(crate) fn per_operation(elapsed: Duration, operations: u64) -> f64 {
    elapsed.as_secs_f64() * 1e9 / operations as f64
}

/// Times `work` on this thread.
pub(crate) fn time(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

/// Runs `tasks` on a thread each, and times them from the first one's start to the last one's end.
///
/// Each thread is pinned to another core if there are enough; otherwise the system places them.
/// They start together; creating them is not part of the time. The tasks themselves read the clock:
/// on a busy machine the caller may be woken only after all is done.
pub(crate) fn time_together(tasks: Vec<Box<dyn FnOnce() + Send + '_>>) -> Duration {
    let ready = Barrier::new(tasks.len());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let placed = tasks.len() <= cores;
    let stretches: Vec<(Instant, Instant)> = thread::scope(|scope| {
        let ready = &ready;
        let mut threads = Vec::new();
        for (core, task) in tasks.into_iter().enumerate() {
            threads.push(scope.spawn(move || {
                if placed {
                    pin(core);
                }
                ready.wait();
                let started = Instant::now();
                task();
                (started, Instant::now())
            }));
        }
        let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
        joined
            .map(|stretch| stretch.expect("a contender panicked"))
            .collect()
    });
    let first = stretches.iter().map(|(started, _)| started).min();
    let last = stretches.iter().map(|(_, ended)| ended).max();
    first
        .zip(last)
        .map_or(Duration::ZERO, |(first, last)| *last - *first)
}

/// Keeps the calling thread on the core of that number, if there is one and the system allows it.
pub(crate) fn pin(core: usize) {
    // Asked once, before any thread is pinned: a pinned thread sees only its own core.
    static CORES: LazyLock<Vec<core_affinity::CoreId>> =
        LazyLock::new(|| core_affinity::get_core_ids().unwrap_or_default());
    if let Some(&core) = CORES.get(core) {
        core_affinity::set_for_current(core);
    }
}

/// How every contender's consumer waits when there is nothing to take: it pauses, twice as long
/// each time, and then yields its core. A handful of items does not reset the pauses: a consumer
/// that looks again at once finds a single item, and takes the cache line from the producer each
/// time.
#[derive(Default)]
pub(crate) struct Backoff {
    rounds: u32,
}

impl Backoff {
    /// Rounds of pauses: 1, 2, 4, … 64 of them.
    const PAUSING: u32 = 7;

    /// Items found at once that reset the pauses.
    const WORTH: u64 = 16;

    pub(crate) fn wait(&mut self) {
        if self.rounds < Self::PAUSING {
            (0..1 << self.rounds).for_each(|_| hint::spin_loop());
            self.rounds += 1;
        } else {
            thread::yield_now();
        }
    }

    pub(crate) fn found(&mut self, items: u64) {
        if items >= Self::WORTH {
            self.reset();
        }
    }

    /// For a consumer that takes one item at a time: each resets the pauses.
    pub(crate) fn reset(&mut self) {
        self.rounds = 0;
    }
}

/// Marsaglia's xorshift: enough to shuffle a handful of contenders.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        // The generator's state must not be 0.
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Fisher and Yates.
    fn shuffle(&mut self, order: &mut [usize]) {
        for last in (1..order.len()).rev() {
            let other = (self.next() % (last as u64 + 1)) as usize;
            order.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use filch_report::run::Role;

    use super::{Random, Scenario};

    #[test]
    fn the_first_round_is_discarded_and_each_contender_has_every_other() {
        let counting = |from: f64| {
            let mut next = from;
            move || {
                next += 1.0;
                next
            }
        };
        let scenario = Scenario::new("counting", "turns")
            .contender("one", counting(0.0))
            .floor("other", counting(100.0));
        let measured = scenario.measure(4, 7);
        assert_eq!(measured.series[0].figures(), [2.0, 3.0, 4.0, 5.0]);
        assert_eq!(measured.series[1].figures(), [102.0, 103.0, 104.0, 105.0]);
        assert_eq!(measured.series[0].median(), 3.5);
        assert_eq!(measured.series[1].role, Role::Floor);
    }

    #[test]
    fn samples_take_turns_and_their_median_counts() {
        let turns = Rc::new(RefCell::new(String::new()));
        let taking = |name, figures: [f64; 3]| {
            let turns = Rc::clone(&turns);
            let mut next = figures.into_iter().cycle();
            move || {
                turns.borrow_mut().push(name);
                next.next().expect("a cycle has no end")
            }
        };
        let scenario = Scenario::new("sampling", "turns")
            .sampled(3)
            .contender("a", taking('a', [9.0, 1.0, 2.0]))
            .contender("b", taking('b', [5.0, 7.0, 6.0]));
        let measured = scenario.measure(2, 7);
        assert_eq!(measured.series[0].figures(), [2.0, 2.0]);
        assert_eq!(measured.series[1].figures(), [6.0, 6.0]);
        let turns = turns.borrow();
        assert_eq!(turns.len(), 3 * 3 * 2);
        for pair in turns.as_bytes().chunks(2) {
            assert_ne!(pair[0], pair[1], "two turns in a row: {turns}");
        }
        let is_mixed = |round: &[u8]| round.chunks(2).any(|pair| pair != &round[..2]);
        assert!(
            turns.as_bytes().chunks(6).any(is_mixed),
            "one order a round: {turns}"
        );
    }

    #[test]
    fn latencies_are_kept_over_the_rounds_that_count() {
        let mut round = 0.0;
        let scenario = Scenario::new("waiting", "ns").latencies("one", move || {
            round += 1.0;
            vec![10.0 * round, round, 100.0 * round]
        });
        let measured = scenario.measure(2, 7);
        let series = &measured.series[0];
        assert_eq!(series.figures(), [20.0, 30.0]);
        let latencies = series.latencies().expect("they were taken");
        let digits = |figure: f64, expected: f64| (figure / expected - 1.0).abs() < 0.001;
        assert!(digits(latencies.p50, 20.0), "{latencies:?}");
        assert!(digits(latencies.p99, 300.0), "{latencies:?}");
        assert!(digits(latencies.max, 300.0), "{latencies:?}");
    }

    #[test]
    fn a_shuffle_is_a_permutation_and_every_place_is_reached() {
        let mut random = Random::new(1);
        let mut first = [0; 3];
        for _ in 0..300 {
            let mut order = [0, 1, 2];
            random.shuffle(&mut order);
            first[order[0]] += 1;
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2]);
        }
        assert!(first.iter().all(|&times| times > 50), "{first:?}");
    }
}
