//! The times of frames.

use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;

/// The time of each frame, to a thousandth of it.
#[derive(Debug, Clone)]
pub(super) struct FrameTimes(Histogram<u64>);

/// The longest bar of the chart.
const BAR: u64 = 40;

impl FrameTimes {
    pub(super) fn new() -> Self {
        const HOUR: u64 = 3_600_000_000_000;
        let Ok(histogram) = Histogram::new_with_bounds(1, HOUR, 3) else {
            unreachable!("bounds in order, and few digits");
        };
        Self(histogram)
    }

    /// Adds the time of a frame; more than an hour counts as one.
    pub(super) fn add(&mut self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.0.saturating_record(nanoseconds);
    }

    pub(super) fn frames(&self) -> u64 {
        self.0.len()
    }

    /// Returns the bars of the chart: the upper bound of each in nanoseconds, and the number of
    /// frames below it that are in no earlier bar.
    fn bars(&self) -> Vec<(u64, u64)> {
        let mut bars = Vec::new();
        let mut counted = 0;
        // 1, 1.5, 2, 3, 4, 6, 8 and so on, in microseconds.
        for end in (0..40).flat_map(|power| [1_000 << power, 1_500 << power]) {
            let below = self.0.count_between(0, end - 1);
            if below > 0 {
                bars.push((end, below - counted));
                counted = below;
            }
            if counted == self.0.len() {
                break;
            }
        }
        bars
    }
}

impl fmt::Display for FrameTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = |nanoseconds: u64| nanoseconds as f64 / 1e6;
        for (name, quantile) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
            let time = milliseconds(self.0.value_at_quantile(quantile));
            writeln!(f, "{name:<16}{time:.3} ms")?;
        }
        writeln!(f, "{:<16}{:.3} ms", "max", milliseconds(self.0.max()))?;
        let bars = self.bars();
        let most = bars.iter().map(|&(_, frames)| frames).max().unwrap_or(1);
        for (end, frames) in bars {
            let bar = "#".repeat((frames * BAR).div_ceil(most) as usize);
            let line = format!("  below {:>9.3} ms{frames:>8} {bar}", milliseconds(end));
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, FrameTimes};

    #[test]
    fn each_frame_is_in_one_bar() {
        let mut times = FrameTimes::new();
        assert_eq!(times.bars(), []);
        for microseconds in [70, 80, 1_200, 1_300, 1_600, 0, 100_000] {
            times.add(Duration::from_micros(microseconds));
        }
        let bars = times.bars();
        assert_eq!(bars.iter().map(|&(_, frames)| frames).sum::<u64>(), 7);
        let of = |end| bars.iter().find(|bar| bar.0 == end).map(|bar| bar.1);
        assert_eq!(of(1_000), Some(1));
        assert_eq!(of(96_000), Some(2));
        assert_eq!(of(1_536_000), Some(2));
        assert_eq!(of(2_048_000), Some(1));
        assert_eq!(bars.last(), Some(&(131_072_000, 1)));
        assert_eq!(times.frames(), 7);
    }

    #[test]
    fn a_chart_has_quantiles_and_bars() {
        let mut times = FrameTimes::new();
        (0..100).for_each(|_| times.add(Duration::from_micros(900)));
        let chart = times.to_string();
        assert!(chart.contains("p50             0.900 ms"), "{chart}");
        assert!(
            chart.contains(&format!("100 {}\n", "#".repeat(40))),
            "{chart}"
        );
        times.add(Duration::MAX);
        assert!(times.to_string().contains("p99 "), "{times}");
    }
}
