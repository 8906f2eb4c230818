//! Medians over the number of workers, as one table per kind of scenario.

use std::fmt;
use std::iter;

use crate::measured::{Measured, Series};

/// Each number up to this is a point.
const EACH: usize = 8;

/// Each number up to 8, then 16, 32, … and as many as there are cores.
pub(crate) fn counts(cores: usize) -> Vec<usize> {
    let doubled = iter::successors(Some(2 * EACH), |count| Some(2 * count));
    let counts = (1..=EACH).chain(doubled);
    let mut counts: Vec<_> = counts.take_while(|&count| count < cores).collect();
    counts.push(cores.max(1));
    counts
}

/// See the [module](self).
#[derive(Default)]
pub(crate) struct Curves(Vec<Curve>);

struct Curve {
    kind: String,
    unit: &'static str,
    /// A column each.
    workers: Vec<usize>,
    /// By contender, a figure for each column.
    rows: Vec<(&'static str, Vec<f64>)>,
}

impl Curves {
    /// Adds the figures of pools with `workers` workers. Each measurement of a kind has the same
    /// contenders.
    pub(crate) fn add(&mut self, kind: String, workers: usize, measured: &Measured) {
        let at = self.0.iter().position(|curve| curve.kind == kind);
        let at = at.unwrap_or_else(|| {
            self.0.push(Curve {
                kind,
                unit: measured.unit,
                workers: Vec::new(),
                rows: measured
                    .series
                    .iter()
                    .map(|series| (series.contender, Vec::new()))
                    .collect(),
            });
            self.0.len() - 1
        });
        let curve = &mut self.0[at];
        curve.workers.push(workers);
        for ((_, row), series) in curve.rows.iter_mut().zip(&measured.series) {
            row.push(Series::median(series));
        }
    }
}

impl fmt::Display for Curves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for curve in &self.0 {
            let names = curve.rows.iter().map(|(contender, _)| contender.len());
            let width = names.max().unwrap_or(0).max("workers".len());
            writeln!(f, "{}, median {} over workers", curve.kind, curve.unit)?;
            write!(f, "  {:<width$}", "workers")?;
            for workers in &curve.workers {
                write!(f, " {workers:>9}")?;
            }
            writeln!(f)?;
            for (contender, row) in &curve.rows {
                write!(f, "  {contender:<width$}")?;
                for median in row {
                    write!(f, " {median:>9.2}")?;
                }
                writeln!(f)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::counts;

    #[test]
    fn a_curve_ends_with_all_cores() {
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(2), [1, 2]);
        assert_eq!(counts(8), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(counts(12), [1, 2, 3, 4, 5, 6, 7, 8, 12]);
        assert_eq!(counts(64), [1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64]);
    }
}
