//! What a contender is to reach beside others, and whether it does.

use crate::measured::{Measured, Series};

/// A bar for the median of one contender.
pub(crate) struct Bar {
    contender: &'static str,
    bound: Bound,
    /// The best of these counts.
    others: &'static [&'static str],
}

#[derive(Clone, Copy)]
enum Bound {
    /// At most so many times the other's figure.
    Times(f64),
    /// At most so much more than the other's figure, in the scenario's unit.
    Plus(f64),
    /// At most so much, in the scenario's unit, whatever others take.
    Absolute(f64),
}

impl Bar {
    pub(crate) const fn times(
        contender: &'static str,
        most: f64,
        others: &'static [&'static str],
    ) -> Self {
        Self {
            contender,
            bound: Bound::Times(most),
            others,
        }
    }

    pub(crate) const fn plus(
        contender: &'static str,
        most: f64,
        others: &'static [&'static str],
    ) -> Self {
        Self {
            contender,
            bound: Bound::Plus(most),
            others,
        }
    }

    pub(crate) const fn absolute(contender: &'static str, most: f64) -> Self {
        Self {
            contender,
            bound: Bound::Absolute(most),
            others: &[],
        }
    }

    /// A line that says whether it holds. `None` if a contender that it needs was not measured.
    pub(crate) fn verdict(&self, measured: &Measured) -> Option<String> {
        let medians = |names: &[&str]| {
            let belonging = measured.series.iter();
            let belonging = belonging.filter(|series| names.contains(&series.contender));
            belonging.map(Series::median).collect::<Vec<_>>()
        };
        let [own] = medians(&[self.contender])[..] else {
            return None;
        };
        let others = medians(self.others);
        if others.len() < self.others.len() {
            return None;
        }
        let best = measured.better.best(others.into_iter());
        let others = self.others.join(", ");
        let (most, is, of) = match self.bound {
            Bound::Times(most) => (most, own / best?, format!(" x the best of {others}")),
            Bound::Plus(most) => (most, own - best?, format!(" + the best of {others}")),
            Bound::Absolute(most) => (most, own, format!(" {}", measured.unit)),
        };
        let verdict = if is <= most { "holds" } else { "MISSED" };
        let contender = self.contender;
        Some(format!(
            "  bar: {contender} at most {most:.2}{of}: {is:.2}, {verdict}\n"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::Bar;
    use crate::harness::Scenario;

    #[test]
    fn the_best_of_the_others_counts() {
        let scenario = Scenario::new("comparing", "ns")
            .contender("ours", || 4.0)
            .contender("slow", || 9.0)
            .contender("fast", || 5.0)
            .bar(Bar::times("ours", 0.9, &["slow", "fast"]))
            .bar(Bar::times("ours", 0.7, &["slow", "fast"]))
            .bar(Bar::plus("slow", 4.0, &["fast"]))
            .bar(Bar::times("ours", 1.0, &["absent", "fast"]))
            .bar(Bar::absolute("ours", 3.5));
        let measured = scenario.measure(1, 7);
        let verdicts = measured.bars.iter().map(|bar| bar.verdict(&measured));
        let verdicts: Vec<_> = verdicts.map(Option::unwrap_or_default).collect();
        assert!(
            verdicts[0].ends_with("slow, fast: 0.80, holds\n"),
            "{verdicts:?}"
        );
        assert!(verdicts[1].ends_with("0.80, MISSED\n"), "{verdicts:?}");
        assert!(verdicts[2].ends_with("fast: 4.00, holds\n"), "{verdicts:?}");
        assert_eq!(verdicts[3], "", "one was not measured");
        assert_eq!(verdicts[4], "  bar: ours at most 3.50 ns: 4.00, MISSED\n");
    }
}
