//! The same build on slower and slower links, and with longer and longer waits.

use std::time::Duration;

use super::error::BuildSimulateError;
use super::figures::Figures;
use super::graph::Graph;
use super::policy::{Kind, Timeouts};
use super::settings::with_ratio;
use super::simulation::Setup;
use super::trials::{Trial, run_all};
use crate::progress::Progress;

/// Makespans over one changed value.
#[derive(Debug, Clone)]
pub(super) struct Sweep {
    /// The changed values, ascending.
    pub(super) at: Vec<f64>,
    pub(super) lines: Vec<Line>,
}

/// The outcome of one policy, at the values of `at`.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) kind: Kind,
    /// In nanoseconds.
    pub(super) makespans: Vec<u64>,
    /// Local hits by bytes, in per cent.
    pub(super) local: Vec<f64>,
}

/// The ratios of transfer to run time.
pub(super) const RATIOS: [f64; 11] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];

/// The timeouts, in seconds.
pub(super) const TIMEOUTS: [f64; 11] = [
    0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1_000.0,
];

/// The number of simulations in both sweeps.
pub(super) const TRIALS: u64 = (Kind::ALL.len() * RATIOS.len() + 2 * TIMEOUTS.len()) as u64;

/// Simulates all policies on slower and slower links.
pub(super) fn over_ratios(
    graph: &Graph,
    setup: Setup,
    timeouts: Timeouts,
    progress: &Progress,
) -> Result<Sweep, BuildSimulateError> {
    let setups = RATIOS.map(|ratio| with_ratio(graph, setup, ratio));
    let trial = |kind| {
        let on = move |setup| Trial {
            kind,
            setup,
            timeouts,
        };
        setups.map(on)
    };
    let trials: Vec<_> = Kind::ALL.into_iter().flat_map(trial).collect();
    let figures = run_all(&trials, graph, progress)?;
    Ok(sweep(&RATIOS, &figures))
}

/// Simulates the policies that have a timeout, with other timeouts.
pub(super) fn over_timeouts(
    graph: &Graph,
    setup: Setup,
    timeouts: Timeouts,
    progress: &Progress,
) -> Result<Sweep, BuildSimulateError> {
    let with = |deps: f64| Timeouts {
        deps: Some(Duration::from_secs_f64(deps)),
        ..timeouts
    };
    let trial = |kind| {
        TIMEOUTS.map(|deps| Trial {
            kind,
            setup,
            timeouts: with(deps),
        })
    };
    let waiting = Kind::ALL.into_iter().filter(|kind| kind.waits());
    let trials: Vec<_> = waiting.flat_map(trial).collect();
    let figures = run_all(&trials, graph, progress)?;
    Ok(sweep(&TIMEOUTS, &figures))
}

/// Makes the lines, one after another, each with a figure for each value.
fn sweep(at: &[f64], figures: &[Figures]) -> Sweep {
    let line = |figures: &[Figures]| Line {
        kind: figures[0].kind,
        makespans: figures.iter().map(|figures| figures.makespan).collect(),
        local: figures
            .iter()
            .map(|figures| figures.local_hits().1)
            .collect(),
    };
    Sweep {
        at: at.to_vec(),
        lines: figures.chunks(at.len()).map(line).collect(),
    }
}

impl Sweep {
    pub(super) fn line(&self, kind: Kind) -> Option<&Line> {
        self.lines.iter().find(|line| line.kind == kind)
    }

    /// Returns the first and the last place of each run of places at which one policy takes less
    /// than `factor` times as long as the other one.
    pub(super) fn ranges(&self, kind: Kind, other: Kind, factor: f64) -> Vec<(f64, f64)> {
        let (Some(line), Some(other)) = (self.line(kind), self.line(other)) else {
            return Vec::new();
        };
        let mut ranges: Vec<(f64, f64)> = Vec::new();
        let mut is_open = false;
        for (at, (&own, &theirs)) in self
            .at
            .iter()
            .zip(line.makespans.iter().zip(&other.makespans))
        {
            let is_less = (own as f64) < factor * theirs as f64;
            match ranges.last_mut() {
                Some(range) if is_less && is_open => range.1 = *at,
                _ if is_less => ranges.push((*at, *at)),
                _ => {}
            }
            is_open = is_less;
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Line, Sweep};

    #[test]
    fn neighbouring_places_are_one_range() {
        let line = |kind, makespans: &[u64]| Line {
            kind,
            makespans: makespans.to_vec(),
            local: vec![0.0; makespans.len()],
        };
        let sweep = Sweep {
            at: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            lines: vec![
                line(Kind::Filch, &[90, 97, 99, 90, 120, 50]),
                line(Kind::Fifo, &[100; 6]),
            ],
        };
        let pays = sweep.ranges(Kind::Filch, Kind::Fifo, 0.98);
        assert_eq!(pays, [(1.0, 2.0), (4.0, 4.0), (6.0, 6.0)]);
        let loses = sweep.ranges(Kind::Fifo, Kind::Filch, 0.98);
        assert_eq!(loses, [(5.0, 5.0)]);
        assert_eq!(sweep.ranges(Kind::Filch, Kind::AlwaysWait, 1.0), []);
    }
}
