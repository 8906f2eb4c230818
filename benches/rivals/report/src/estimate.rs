//! The median of a few rounds, and where the median of infinitely many would be.

use std::fmt;

/// The confidence of an interval, unless it says otherwise.
pub const CONFIDENCE: f64 = 0.95;

/// A median and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The median of the rounds.
    pub median: f64,
    /// The range of the median of infinitely many rounds, with [`CONFIDENCE`] at least. `None`:
    /// there are too few to say.
    pub interval: Option<[f64; 2]>,
}

impl Estimate {
    /// NaN without figures.
    pub fn of(figures: &[f64]) -> Self {
        Self {
            median: median(figures),
            interval: interval(figures, CONFIDENCE),
        }
    }
}

/// `7.20 (7.10 to 7.31)`, or the median alone.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Short(self.median))?;
        match self.interval {
            Some([low, high]) => write!(f, " ({} to {})", Short(low), Short(high)),
            None => Ok(()),
        }
    }
}

/// A figure with as many digits as are worth reading: three, and all of those before the point.
#[derive(Clone, Copy, Debug)]
pub struct Short(pub f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = match self.0.abs() {
            size if size < 10.0 => 2,
            size if size < 100.0 => 1,
            _ => 0,
        };
        let text = format!("{:.digits$}", self.0);
        let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
        let first = whole.len() - whole.trim_start_matches('-').len();
        for (place, digit) in whole.char_indices() {
            let left = whole.len() - place;
            if place > first && left % 3 == 0 {
                // One that no line is broken at.
                f.write_str("\u{a0}")?;
            }
            write!(f, "{digit}")?;
        }
        f.write_str(fraction)
    }
}

/// The median. NaN without figures.
pub fn median(figures: &[f64]) -> f64 {
    let sorted = sorted(figures);
    match sorted.len() {
        0 => f64::NAN,
        count => f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2]),
    }
}

/// An interval that has the true median with `confidence` at least, whatever the figures'
/// distribution: its ends are two of them. `None`: there are too few for so much.
pub fn interval(figures: &[f64], confidence: f64) -> Option<[f64; 2]> {
    let sorted = sorted(figures);
    let rank = rank(sorted.len(), (1.0 - confidence) / 2.0)?;
    Some([sorted[rank], sorted[sorted.len() - 1 - rank]])
}

fn sorted(figures: &[f64]) -> Vec<f64> {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The sign test: each figure is above or below the true median as a coin falls. So these many
/// figures at one end lie all on one side of it with a chance of `most_beyond` at most.
fn rank(count: usize, most_beyond: f64) -> Option<usize> {
    // That so many are below it; that so many or fewer are.
    let mut chance = 0.5_f64.powf(count as f64);
    let mut tail = chance;
    let mut below = 0;
    while tail <= most_beyond && below < count {
        below += 1;
        chance *= (count + 1 - below) as f64 / below as f64;
        tail += chance;
    }
    below.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::{Estimate, Short, interval, median, rank};

    #[test]
    fn the_median_is_the_middle_whatever_the_order() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    /// As in tables of the sign test: with 10 figures the second from either end.
    #[test]
    fn an_interval_needs_six_rounds() {
        let of = |count| rank(count, 0.025);
        assert_eq!([0, 1, 5].map(of), [None; 3]);
        assert_eq!(
            [6, 8, 9, 10, 12, 15, 20].map(of),
            [0, 0, 1, 1, 2, 3, 5].map(Some)
        );
    }

    #[test]
    fn the_ends_of_an_interval_are_figures() {
        let figures = [1.1, 0.9, 1.0, 0.8, 1.2, 1.3];
        let estimate = Estimate::of(&figures);
        assert_eq!(estimate.interval, Some([0.8, 1.3]));
        assert_eq!(estimate.to_string(), "1.05 (0.80 to 1.30)");
        assert_eq!(interval(&figures, 0.975), None, "six say no more than 96 %");
    }

    /// Of all ways in which ten figures can fall around the true median, the interval has it in 95
    /// of 100 at least, and a narrower one has not.
    #[test]
    fn the_interval_has_the_true_median_as_often_as_it_says() {
        let covered = |rank: usize| {
            let covering = (0..1u32 << 10).filter(|signs| {
                let below = signs.count_ones() as usize;
                below > rank && 10 - below > rank
            });
            covering.count() as f64 / f64::from(1 << 10)
        };
        let rank = rank(10, 0.025).expect("ten are enough");
        assert!(covered(rank) >= 0.95);
        assert!(covered(rank + 1) < 0.95);
    }

    #[test]
    fn a_figure_has_the_digits_that_are_worth_reading() {
        let short = [0.1234, 7.0, 65.04, 123.4, 4800.0, 1_234_567.8].map(Short);
        assert_eq!(
            short.map(|figure| figure.to_string()),
            [
                "0.12",
                "7.00",
                "65.0",
                "123",
                "4\u{a0}800",
                "1\u{a0}234\u{a0}568"
            ]
        );
        assert_eq!(Short(-123.0).to_string(), "-123");
    }
}
