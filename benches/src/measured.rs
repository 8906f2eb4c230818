//! The figures that came out of a scenario.

use crate::bar::Bar;

/// The figures of a scenario's contenders.
pub(crate) struct Measured {
    pub(crate) scenario: String,
    pub(crate) unit: &'static str,
    pub(crate) better: Better,
    pub(crate) series: Vec<Series>,
    pub(crate) bars: Vec<Bar>,
}

/// Which of two figures wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Better {
    Lower,
    Higher,
}

impl Better {
    /// The word for it in the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Higher => "higher",
        }
    }

    /// The best of these figures, if there is one.
    pub(crate) fn best(self, figures: impl Iterator<Item = f64>) -> Option<f64> {
        match self {
            Self::Lower => figures.min_by(f64::total_cmp),
            Self::Higher => figures.max_by(f64::total_cmp),
        }
    }
}

/// One contender's rounds, and the latencies of its operations, if these were timed one by one.
pub(crate) struct Series {
    pub(crate) contender: &'static str,
    pub(crate) floor: bool,
    /// One for each round; sorted in the end, as the latencies are.
    figures: Vec<f64>,
    latencies: Vec<f64>,
}

impl Series {
    pub(crate) fn new(contender: &'static str, floor: bool) -> Self {
        Self {
            contender,
            floor,
            figures: Vec::new(),
            latencies: Vec::new(),
        }
    }

    pub(crate) fn add_round(&mut self, figure: f64) {
        self.figures.push(figure);
    }

    pub(crate) fn add_latencies(&mut self, latencies: &[f64]) {
        self.latencies.extend_from_slice(latencies);
    }

    /// After the last round.
    pub(crate) fn sort(&mut self) {
        self.figures.sort_by(f64::total_cmp);
        self.latencies.sort_by(f64::total_cmp);
    }

    #[cfg(test)]
    pub(crate) fn figures(&self) -> &[f64] {
        &self.figures
    }

    pub(crate) fn median(&self) -> f64 {
        median(&self.figures)
    }

    pub(crate) fn min(&self) -> f64 {
        self.figures[0]
    }

    pub(crate) fn max(&self) -> f64 {
        self.figures[self.figures.len() - 1]
    }

    /// How far apart the extremes are, as a share of the median.
    pub(crate) fn spread(&self) -> f64 {
        (self.max() - self.min()) / self.median()
    }

    /// The latency that this part of all operations did not exceed; `None` if no latencies were
    /// taken.
    pub(crate) fn quantile(&self, part: f64) -> Option<f64> {
        let rank = (part * self.latencies.len() as f64).ceil() as usize;
        self.latencies.get(rank.saturating_sub(1)).copied()
    }
}

/// The median of sorted figures.
pub(crate) fn median(figures: &[f64]) -> f64 {
    let middle = figures.len() / 2;
    if figures.len() % 2 == 1 {
        figures[middle]
    } else {
        f64::midpoint(figures[middle - 1], figures[middle])
    }
}
