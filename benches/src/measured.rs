//! The figures that came out of a scenario.

use filch_report::estimate::median;
use filch_report::run::{Better, Latencies, Role};
use hdrhistogram::Histogram;

use crate::bar::Bar;

/// The figures of a scenario's contenders.
pub(crate) struct Measured {
    pub(crate) scenario: String,
    pub(crate) unit: &'static str,
    pub(crate) better: Better,
    pub(crate) series: Vec<Series>,
    pub(crate) bars: Vec<Bar>,
}

/// One contender's rounds, and the latencies of its operations, if these were timed one by one.
pub(crate) struct Series {
    pub(crate) contender: &'static str,
    pub(crate) role: Role,
    /// One for each round, in their order: those of two contenders in one place are of one round.
    figures: Vec<f64>,
    /// In thousandths of the scenario's unit.
    latencies: Histogram<u64>,
}

/// A histogram has whole numbers.
const THOUSANDTHS: f64 = 1000.0;

impl Series {
    pub(crate) fn new(contender: &'static str, role: Role) -> Self {
        Self {
            contender,
            role,
            figures: Vec::new(),
            latencies: Histogram::new(3).expect("three digits are possible"),
        }
    }

    pub(crate) fn add_round(&mut self, figure: f64) {
        self.figures.push(figure);
    }

    pub(crate) fn add_latencies(&mut self, latencies: &[f64]) {
        for latency in latencies {
            let recorded = self
                .latencies
                .record((latency * THOUSANDTHS).round() as u64);
            recorded.expect("it grows as it has to");
        }
    }

    pub(crate) fn figures(&self) -> &[f64] {
        &self.figures
    }

    pub(crate) fn median(&self) -> f64 {
        median(&self.figures)
    }

    pub(crate) fn min(&self) -> f64 {
        self.figures.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn max(&self) -> f64 {
        self.figures
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// How far apart the extremes are, as a share of the median.
    pub(crate) fn spread(&self) -> f64 {
        (self.max() - self.min()) / self.median()
    }

    /// Over the operations of all rounds, to three digits. `None` if no latencies were taken.
    pub(crate) fn latencies(&self) -> Option<Latencies> {
        let quantile = |part| self.latencies.value_at_quantile(part) as f64 / THOUSANDTHS;
        (!self.latencies.is_empty()).then(|| Latencies {
            p50: quantile(0.5),
            p99: quantile(0.99),
            p999: quantile(0.999),
            max: quantile(1.0),
        })
    }
}
