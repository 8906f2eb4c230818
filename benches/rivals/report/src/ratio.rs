//! One of ours beside the best rival of the same run.

use std::ops::RangeInclusive;

use crate::estimate::Estimate;
use crate::run::{Role, Run, Scenario, Series};

/// A contender of ours, and how it did.
#[derive(Debug)]
pub struct Ratio<'a> {
    /// The scenario of both.
    pub scenario: &'a Scenario,
    /// The series of ours.
    pub ours: &'a Series,
    /// The rival with the best median.
    pub rival: &'a Series,
    /// The factor by which ours was worse than the rival, round by round: above 1 it lost. A slow
    /// minute falls on both sides of a round, and so on no ratio.
    pub ratio: Estimate,
}

/// Ratios that are no difference to a user.
const LEVEL: RangeInclusive<f64> = 0.95..=1.05;

/// The outcome that the whole interval of a ratio shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Ours is better.
    Won,
    /// The rival is.
    Lost,
    /// Within 5 % of each other, whichever is better.
    Level,
    /// The interval is too wide to say, or there are too few rounds for one.
    Unknown,
}

impl Ratio<'_> {
    /// Judges by the interval as it is shown, and never by the median alone.
    pub fn verdict(&self) -> Verdict {
        let shown = |ends: [f64; 2]| ends.map(|end| (end * 100.0).round() / 100.0);
        match self.ratio.interval.map(shown) {
            Some([low, high]) if LEVEL.contains(&low) && LEVEL.contains(&high) => Verdict::Level,
            Some([_, high]) if high < 1.0 => Verdict::Won,
            Some([low, _]) if low > 1.0 => Verdict::Lost,
            _ => Verdict::Unknown,
        }
    }
}

impl Run {
    /// Each of ours beside the best rival of its scenario, in order.
    pub fn ratios(&self) -> impl Iterator<Item = Ratio<'_>> {
        self.results.iter().flat_map(Scenario::ratios)
    }
}

impl Scenario {
    /// Each of ours beside the best rival; nothing, if there is none.
    pub fn ratios(&self) -> impl Iterator<Item = Ratio<'_>> {
        let rival = self.best(Role::Rival);
        let of = move |ours| rival.map(|rival| self.ratio(ours, rival));
        self.of(Role::Ours).filter_map(of)
    }

    pub(crate) fn ratio<'a>(&'a self, ours: &'a Series, rival: &'a Series) -> Ratio<'a> {
        let rounds = ours.figures.iter().zip(&rival.figures);
        let ratio = |(&ours, &rival): (&f64, &f64)| self.better.ratio(ours, rival);
        let ratios: Vec<f64> = rounds.map(ratio).collect();
        Ratio {
            scenario: self,
            ours,
            rival,
            ratio: Estimate::of(&ratios),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict;
    use crate::run::Better;
    use crate::run::tests::{around, run};

    fn verdicts() -> Vec<(Verdict, f64)> {
        let run = run();
        let ratios = run.ratios();
        let ratios = ratios.map(|ratio| (ratio.verdict(), ratio.ratio.median));
        ratios.collect()
    }

    #[test]
    fn a_loss_is_told_from_a_win_and_from_noise() {
        let all = verdicts();
        let verdicts: Vec<_> = all.iter().map(|(verdict, _)| *verdict).collect();
        assert_eq!(verdicts, [Verdict::Won, Verdict::Lost, Verdict::Unknown]);
        assert_eq!(
            (all[0].1, all[1].1),
            (0.5, 1.5),
            "beside the best rival, not another"
        );
    }

    #[test]
    fn a_worse_median_alone_is_no_loss() {
        let mut run = run();
        // Rounds that move against those of the rival.
        run.results[2].contenders[0].figures = around(5.1);
        run.results[2].contenders[0].figures.reverse();
        let ratio = run.results[2].ratios().next().expect("one of ours");
        assert!(ratio.ratio.median > 1.01);
        assert_eq!(ratio.verdict(), Verdict::Unknown);
        // A clear loss, of which nothing says how sure it is.
        run.results[1].contenders[0].figures.truncate(5);
        let ratio = run.results[1].ratios().next().expect("one of ours");
        assert_eq!(ratio.ratio.interval, None);
        assert_eq!(ratio.verdict(), Verdict::Unknown);
    }

    #[test]
    fn level_is_what_lies_within_five_per_cent_with_its_whole_interval() {
        let mut run = run();
        let rival = run.results[1].contenders[2].figures.clone();
        // The rounds' ratios go from one of these to the other.
        let mut verdict = |low: f64, high: f64| {
            let mut figures: Vec<_> = rival.iter().map(|figure| figure * low).collect();
            let last = figures.len() - 1;
            figures[last] = rival[last] * high;
            run.results[1].contenders[0].figures = figures;
            let ratio = run.results[1].ratios().next().expect("one of ours");
            ratio.verdict()
        };
        assert_eq!(verdict(1.01, 1.04), Verdict::Level, "although it is worse");
        assert_eq!(verdict(0.96, 1.04), Verdict::Level);
        assert_eq!(verdict(1.01, 1.06), Verdict::Lost);
        assert_eq!(verdict(0.94, 0.99), Verdict::Won);
        assert_eq!(verdict(0.96, 1.06), Verdict::Unknown);
        assert_eq!(verdict(0.94, 1.04), Verdict::Unknown);
        assert_eq!(verdict(0.94, 0.996), Verdict::Unknown, "1.00 is shown");
        assert_eq!(verdict(f64::NAN, f64::NAN), Verdict::Unknown);
    }

    /// The rounds move by 8 %, all contenders alike: no round's ratio does.
    #[test]
    fn what_falls_on_both_falls_on_no_ratio() {
        let run = run();
        let ratio = run.results[1].ratios().next().expect("one of ours");
        let [low, high] = ratio.ratio.interval.expect("eight rounds");
        assert!((high - low).abs() < 1e-9, "{low} to {high}");
    }

    #[test]
    fn where_more_is_better_less_is_a_loss() {
        let mut scenario = run().results[1].clone();
        scenario.better = Better::Higher;
        let ratio = scenario.ratios().next().expect("one of ours");
        assert_eq!(ratio.rival.name, "other", "its 18 is more than 9 and 6");
        assert_eq!(ratio.verdict(), Verdict::Lost);
        assert_eq!(ratio.ratio.median, 2.0);
    }
}
