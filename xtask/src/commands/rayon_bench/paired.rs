//! Two contenders' rounds in pairs, and the ratio that they show.

/// What the first and the second took, round by round.
#[derive(Default)]
pub(super) struct Paired(Vec<[f64; 2]>);

/// The second's time as a part of the first's, within a round.
#[derive(Debug, PartialEq)]
pub(super) struct Ratios {
    pub(super) median: f64,
    /// Where the median of infinitely many rounds is, with 95 %. `None`: there are too few to say.
    pub(super) interval: Option<[f64; 2]>,
}

impl Paired {
    pub(super) fn add(&mut self, times: [f64; 2]) {
        self.0.push(times);
    }

    pub(super) fn medians(&self) -> [f64; 2] {
        [0, 1].map(|side| median(self.0.iter().map(|times| times[side])))
    }

    pub(super) fn ratios(&self) -> Ratios {
        let ratios = sorted(self.0.iter().map(|[first, second]| second / first));
        let ends = rank(ratios.len());
        Ratios {
            median: median(ratios.iter().copied()),
            interval: ends.map(|rank| [ratios[rank], ratios[ratios.len() - 1 - rank]]),
        }
    }
}

fn sorted(figures: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut figures: Vec<_> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures
}

/// NaN without figures.
pub(super) fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let sorted = sorted(figures);
    match sorted.len() {
        0 => f64::NAN,
        count => f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2]),
    }
}

/// The sign test: each figure is above or below the true median as a coin falls. So these many
/// figures from either end lie, with 95 % at least, all on one side of it.
fn rank(count: usize) -> Option<usize> {
    // That so many are below it; that so many or fewer are.
    let mut chance = 0.5_f64.powf(count as f64);
    let mut tail = chance;
    let mut below = 0;
    while tail <= 0.025 && below < count {
        below += 1;
        chance *= (count + 1 - below) as f64 / below as f64;
        tail += chance;
    }
    below.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::{Paired, Ratios, rank};

    #[test]
    fn ratios_are_of_one_round() {
        let mut paired = Paired::default();
        for round in 1..=10 {
            paired.add([f64::from(round), 2.0 * f64::from(round)]);
        }
        let expected = Ratios {
            median: 2.0,
            interval: Some([2.0, 2.0]),
        };
        assert_eq!(paired.ratios(), expected);
        assert_eq!(paired.medians(), [5.5, 11.0]);
    }

    /// As in tables of the sign test: with 10 figures the second from either end.
    #[test]
    fn the_interval_needs_six_rounds() {
        assert_eq!([0, 1, 5].map(rank), [None; 3]);
        assert_eq!(
            [6, 8, 9, 10, 12, 20].map(rank),
            [0, 0, 1, 1, 2, 5].map(Some)
        );
    }

    #[test]
    fn the_ends_of_the_interval_are_figures() {
        let mut paired = Paired::default();
        for ratio in [1.1, 0.9, 1.0, 0.8, 1.2, 1.3] {
            paired.add([1.0, ratio]);
        }
        let ratios = paired.ratios();
        assert_eq!(ratios.interval, Some([0.8, 1.3]));
    }
}
