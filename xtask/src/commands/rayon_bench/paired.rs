//! Two contenders' rounds in pairs, and the ratio that they show.

use filch_report::estimate::{Estimate, median};

/// What the first and the second took, round by round.
#[derive(Default)]
pub(super) struct Paired(Vec<[f64; 2]>);

impl Paired {
    pub(super) fn add(&mut self, times: [f64; 2]) {
        self.0.push(times);
    }

    pub(super) fn medians(&self) -> [f64; 2] {
        [0, 1].map(|side| {
            let times: Vec<_> = self.0.iter().map(|times| times[side]).collect();
            median(&times)
        })
    }

    /// The second's time as a part of the first's, within a round.
    pub(super) fn ratios(&self) -> Estimate {
        let ratios = self.0.iter().map(|[first, second]| second / first);
        Estimate::of(&ratios.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use filch_report::estimate::Estimate;

    use super::Paired;

    #[test]
    fn ratios_are_of_one_round() {
        let mut paired = Paired::default();
        for round in 1..=10 {
            paired.add([f64::from(round), 2.0 * f64::from(round)]);
        }
        let expected = Estimate {
            median: 2.0,
            interval: Some([2.0, 2.0]),
        };
        assert_eq!(paired.ratios(), expected);
        assert_eq!(paired.medians(), [5.5, 11.0]);
    }
}
