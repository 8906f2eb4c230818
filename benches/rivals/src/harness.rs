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

use std::cell::LazyCell;

use filch_report::estimate::median;
use filch_report::run::{self, Better, Latencies, Role, Series};
use filch_report::{Ratio, Verdict};
use hdrhistogram::Histogram;

use crate::work::WORKERS;

/// The beginning of our contenders' names.
const OURS: &str = "filch";

/// The same work, done by several contenders.
pub(crate) struct Scenario {
    /// To be filled in when it is measured.
    result: run::Scenario,
    /// Turns of each contender in a round.
    samples: u64,
    turns: Vec<Turn>,
}

/// The work, done once.
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
        let result = run::Scenario {
            group: String::new(),
            scenario: name.into(),
            unit: unit.to_owned(),
            better: Better::Lower,
            contenders: Vec::new(),
        };
        Self {
            result,
            samples: 1,
            turns: Vec::new(),
        }
    }

    /// A scenario of pools with so many workers.
    pub(crate) fn of_workers(kind: &str, workers: usize, unit: &'static str) -> Self {
        match workers {
            WORKERS => Self::new(kind, unit),
            _ => Self::new(format!("{kind}, workers: {workers}"), unit),
        }
    }

    /// Each contender has `samples` turns a round, and the median of their figures counts.
    pub(crate) fn sampled(mut self, samples: u64) -> Self {
        self.samples = samples;
        self
    }

    pub(crate) fn higher_is_better(mut self) -> Self {
        self.result.better = Better::Higher;
        self
    }

    pub(crate) fn name(&self) -> &str {
        &self.result.scenario
    }

    /// Only the contenders whose name contains `wanted`; returns whether there are any.
    pub(crate) fn keep(&mut self, wanted: &str) -> bool {
        let contenders = self.result.contenders.drain(..).zip(self.turns.drain(..));
        let kept = contenders.filter(|(contender, _)| contender.name.contains(wanted));
        (self.result.contenders, self.turns) = kept.collect::<Vec<_>>().into_iter().unzip();
        !self.turns.is_empty()
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
        let role = match name.starts_with(OURS) {
            true => Role::Ours,
            false => Role::Rival,
        };
        self.result.contenders.push(Series {
            name: name.to_owned(),
            role,
            figures: Vec::new(),
            latencies: None,
        });
        self.turns.push(turn);
        self
    }

    /// Adds a floor, which is no rival: the cost of the least that such work needs.
    pub(crate) fn floor(mut self, name: &'static str, turn: impl FnMut() -> f64 + 'static) -> Self {
        self = self.contender(name, turn);
        let floor = self.result.contenders.last_mut();
        floor.expect("it was just added").role = Role::Floor;
        self
    }

    /// Measures, and again with twice as many rounds, `again` times at most, as long as one of our
    /// rows cannot be told from its rival. The last time counts, and those before do not.
    pub(crate) fn measure_until_known(
        &mut self,
        group: &str,
        mut rounds: usize,
        seed: u64,
        again: u32,
    ) -> run::Scenario {
        let mut measured = self.measure(group, rounds, seed);
        for _ in 0..again {
            let is_unknown = |ratio: Ratio<'_>| ratio.verdict() == Verdict::Unknown;
            if !measured.ratios().any(is_unknown) {
                break;
            }
            rounds *= 2;
            println!(
                "{}: unknown, measured again in {rounds} rounds",
                self.name()
            );
            measured = self.measure(group, rounds, seed);
        }
        measured
    }

    /// One discarded round, then `rounds` that count.
    fn measure(&mut self, group: &str, rounds: usize, seed: u64) -> run::Scenario {
        for contender in &mut self.result.contenders {
            contender.figures.clear();
        }
        let mut random = fastrand::Rng::with_seed(seed);
        let mut order: Vec<usize> = (0..self.turns.len()).collect();
        // In thousandths of the unit: a histogram has whole numbers.
        let histogram = Histogram::<u64>::new(3).expect("three digits are possible");
        let mut histograms = vec![histogram; order.len()];
        for round in 0..=rounds {
            let mut figures = vec![Vec::new(); order.len()];
            for _ in 0..self.samples {
                random.shuffle(&mut order);
                for &index in &order {
                    match &mut self.turns[index] {
                        Turn::Figure(turn) => figures[index].push(turn()),
                        Turn::Latencies(turn) => {
                            let latencies = turn();
                            for latency in latencies.iter().filter(|_| round > 0) {
                                let recorded = (latency * THOUSANDTHS).round() as u64;
                                let recorded = histograms[index].record(recorded);
                                recorded.expect("it grows as it has to");
                            }
                            figures[index].extend(latencies);
                        }
                    }
                }
            }
            if round > 0 {
                for (contender, figures) in self.result.contenders.iter_mut().zip(figures) {
                    // A picosecond is below all noise.
                    let figure = (median(&figures) * THOUSANDTHS).round() / THOUSANDTHS;
                    contender.figures.push(figure);
                }
            }
        }
        for (contender, histogram) in self.result.contenders.iter_mut().zip(histograms) {
            let quantile = |part| histogram.value_at_quantile(part) as f64 / THOUSANDTHS;
            contender.latencies = (!histogram.is_empty()).then(|| Latencies {
                p50: quantile(0.5),
                p99: quantile(0.99),
                p999: quantile(0.999),
                max: quantile(1.0),
            });
        }
        self.result.group = group.to_owned();
        self.result.clone()
    }
}

/// The scenarios of several contenders, each of which lists those that it takes part in: one for
/// each name, with all of its contenders.
pub(crate) fn merged(parts: impl IntoIterator<Item = Vec<Scenario>>) -> Vec<Scenario> {
    let mut all: Vec<Scenario> = Vec::new();
    for part in parts.into_iter().flatten() {
        let mut known = all.iter_mut();
        match known.find(|scenario| scenario.name() == part.name()) {
            Some(scenario) => {
                scenario.result.contenders.extend(part.result.contenders);
                scenario.turns.extend(part.turns);
            }
            None => all.push(part),
        }
    }
    all
}

const THOUSANDTHS: f64 = 1000.0;

/// A turn with what it needs, which is made in the first one, the discarded one, and stays.
pub(crate) fn keeping<T, R>(
    make: impl FnOnce() -> T,
    mut turn: impl FnMut(&T) -> R,
) -> impl FnMut() -> R {
    let kept = LazyCell::new(make);
    move || turn(&kept)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use filch_report::run::Role;

    use super::Scenario;

    #[test]
    fn the_first_round_is_discarded_and_each_contender_has_every_other() {
        let counting = |from: f64| {
            let mut next = from;
            move || {
                next += 1.0;
                next
            }
        };
        let mut scenario = Scenario::new("counting", "turns")
            .contender("one", counting(0.0))
            .floor("other", counting(100.0));
        let measured = scenario.measure("group", 4, 7).contenders;
        assert_eq!(measured[0].figures, [2.0, 3.0, 4.0, 5.0]);
        assert_eq!(measured[1].figures, [102.0, 103.0, 104.0, 105.0]);
        assert_eq!(measured[1].role, Role::Floor);
    }

    /// A pair of contenders, of which ours is better or worse by turns for so many rounds, and then
    /// better for good.
    fn unclear_for(rounds: u32) -> Scenario {
        let mut round = 0;
        let ours = move || {
            round += 1;
            if round < rounds && round % 2 == 0 {
                2.0
            } else {
                0.5
            }
        };
        let scenario = Scenario::new("unclear", "turns");
        scenario.contender("filch", ours).contender("rival", || 1.0)
    }

    #[test]
    fn what_is_unknown_is_measured_again_in_more_rounds() {
        let rounds = |unclear, again| {
            let measured = unclear_for(unclear).measure_until_known("group", 6, 7, again);
            measured.contenders[0].figures.len()
        };
        assert_eq!(rounds(0, 2), 6, "it is known at once");
        // The first six, and a discarded one.
        assert_eq!(rounds(7, 2), 12);
        assert_eq!(rounds(7, 0), 6, "nobody asked for more");
        assert_eq!(rounds(100, 2), 24, "and it is unknown still");
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
        let mut scenario = Scenario::new("sampling", "turns")
            .sampled(3)
            .contender("a", taking('a', [9.0, 1.0, 2.0]))
            .contender("b", taking('b', [5.0, 7.0, 6.0]));
        let measured = scenario.measure("group", 2, 7).contenders;
        assert_eq!(measured[0].figures, [2.0, 2.0]);
        assert_eq!(measured[1].figures, [6.0, 6.0]);
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
        let mut scenario = Scenario::new("waiting", "ns").latencies("one", move || {
            round += 1.0;
            vec![10.0 * round, round, 100.0 * round]
        });
        let measured = scenario.measure("group", 2, 7).contenders;
        assert_eq!(measured[0].figures, [20.0, 30.0]);
        let latencies = measured[0].latencies.expect("they were taken");
        let digits = |figure: f64, expected: f64| (figure / expected - 1.0).abs() < 0.001;
        assert!(digits(latencies.p50, 20.0), "{latencies:?}");
        assert!(digits(latencies.p99, 300.0), "{latencies:?}");
        assert!(digits(latencies.max, 300.0), "{latencies:?}");
    }
}
