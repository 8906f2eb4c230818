//! Four plots of what was simulated, as SVG.

use std::fs;
use std::path::{Path, PathBuf};

use super::chart::{Axis, Chart, Corner, Curve};
use super::error::BuildSimulateError;
use super::figures::Figures;
use super::policy::Kind;
use super::sweep::Sweep;

/// What the plots show.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    pub(super) ratios: &'a Sweep,
    pub(super) timeouts: &'a Sweep,
    /// Each policy with the settings as given.
    pub(super) policies: &'a [Figures],
    /// The lower bound of the makespan, in nanoseconds.
    pub(super) least: f64,
    /// How many jobs run at a time at most.
    pub(super) slots: u64,
}

/// A curve of a policy: a colour of Okabe and Ito, which the colour-blind can tell apart. What is
/// drawn first is wider, so that it is seen below another curve.
fn curve(kind: Kind, points: Vec<(f64, f64)>, is_marked: bool) -> Curve {
    let (colour, width) = match kind {
        Kind::Filch => ("#D55E00", 2),
        Kind::Fifo => ("#000000", 2),
        Kind::AlwaysWait => ("#0072B2", 2),
        Kind::TwoChoices => ("#CC79A7", 5),
        Kind::NearFirst => ("#009E73", 6),
    };
    Curve {
        name: kind.to_string(),
        colour,
        width,
        points,
        is_marked,
    }
}

/// Makes the folder.
pub(super) fn prepare(folder: &Path) -> Result<(), BuildSimulateError> {
    let unmade = |error| BuildSimulateError::Folder(folder.to_owned(), error);
    fs::create_dir_all(folder).map_err(unmade)
}

/// Draws all into the folder, and returns the files.
pub(super) fn draw(folder: &Path, shown: &Shown<'_>) -> Result<Vec<PathBuf>, BuildSimulateError> {
    let plots = [
        ("ratios.svg", ratios(shown)),
        ("timeouts.svg", timeouts(shown)),
        ("waits.svg", waits(shown)),
        ("busy.svg", busy(shown)),
    ];
    let mut files = Vec::new();
    for (name, chart) in plots {
        let file = folder.join(name);
        let unwritten = |error| BuildSimulateError::Plot(file.clone(), error);
        fs::write(&file, chart.to_string()).map_err(unwritten)?;
        files.push(file);
    }
    Ok(files)
}

fn ratios(shown: &Shown<'_>) -> Chart {
    let mut curves = curves(shown.ratios, 1.0);
    if let Some(fifo) = shown.ratios.line(Kind::Fifo) {
        for curve in &mut curves {
            for (point, &unit) in curve.points.iter_mut().zip(&fifo.makespans) {
                point.1 /= unit as f64;
            }
        }
    }
    let [first, last] = span(shown.ratios);
    Chart {
        title: "Slower and slower links: below 1, a policy is faster than FIFO",
        x: Axis::logarithmic("transfer of all inputs / run time of all jobs", first, last),
        y: heights("makespan / makespan of FIFO", &curves),
        curves,
        legend: Corner::UpperLeft,
    }
}

fn timeouts(shown: &Shown<'_>) -> Chart {
    let mut curves = curves(shown.timeouts, shown.least);
    let [first, last] = span(shown.timeouts);
    // The others have no timeout: their lines are level.
    let level = shown.policies.iter();
    for figures in level.filter(|figures| !figures.kind.waits()) {
        let height = figures.makespan as f64 / shown.least;
        let points = vec![(first, height), (last, height)];
        curves.push(curve(figures.kind, points, false));
    }
    Chart {
        title: "How long a job is kept for near workers",
        x: Axis::logarithmic("deps timeout, seconds", first, last),
        y: heights("makespan / lower bound", &curves),
        curves,
        legend: Corner::UpperLeft,
    }
}

fn waits(shown: &Shown<'_>) -> Chart {
    let of = |figures: &Figures| {
        let points = figures.waits.curve.iter();
        let points = points.map(|&(time, share)| (time as f64 / 1e9, 100.0 * share));
        curve(figures.kind, points.collect(), false)
    };
    let curves: Vec<_> = shown.policies.iter().map(of).collect();
    let ends = curves.iter().filter_map(|curve| curve.points.last());
    // Beyond the longest wait is room for the legend.
    let end = 30.0 * ends.map(|point| point.0).fold(0.01, f64::max);
    Chart {
        title: "How long jobs wait from being ready to their start",
        x: Axis::logarithmic("seconds", 0.001, end),
        y: Axis::linear("jobs that wait no longer, per cent", 0.0, 100.0),
        curves,
        legend: Corner::LowerRight,
    }
}

fn busy(shown: &Shown<'_>) -> Chart {
    let of = |figures: &Figures| {
        let part = figures.busy.part as f64 / 1e9;
        let at = |(number, &jobs): (usize, &f64)| ((number as f64 + 0.5) * part, jobs);
        let points = figures.busy.jobs.iter().enumerate().map(at);
        curve(figures.kind, points.collect(), false)
    };
    let ends = shown.policies.iter();
    let ends = ends.map(|figures| figures.makespan as f64 / 1e9);
    Chart {
        title: "How many jobs run or fetch their inputs",
        x: Axis::linear("seconds since the begin", 0.0, ends.fold(0.0, f64::max)),
        // Above all slots is room for the legend.
        y: Axis::linear("jobs at a time", 0.0, shown.slots as f64 * 1.5),
        curves: shown.policies.iter().map(of).collect(),
        legend: Corner::UpperRight,
    }
}

/// Makespans over what was swept, in lower bounds.
fn curves(sweep: &Sweep, least: f64) -> Vec<Curve> {
    let lines = sweep.lines.iter();
    let of = |line: &super::sweep::Line| {
        let heights = line.makespans.iter().map(|&time| time as f64 / least);
        curve(
            line.kind,
            sweep.at.iter().copied().zip(heights).collect(),
            true,
        )
    };
    lines.map(of).collect()
}

fn span(sweep: &Sweep) -> [f64; 2] {
    match sweep.at[..] {
        [first, .., last] => [first, last],
        _ => unreachable!("a sweep has places"),
    }
}

/// From below all points to above them, with room for the legend.
fn heights(name: &'static str, curves: &[Curve]) -> Axis {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let least = points().fold(1.0, |least, point| point.1.min(least));
    let most = points().fold(1.1, |most, point| point.1.max(most));
    let margin = (most - least) * 0.08;
    Axis::linear(name, least - margin, most + 6.0 * margin)
}
