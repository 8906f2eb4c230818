//! Four plots of what was simulated, as SVG.

use std::error::Error;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use super::error::BuildSimulateError;
use super::figures::Figures;
use super::policy::Kind;
use super::sweep::Sweep;

const SIZE: (u32, u32) = (800, 480);
const FONT: &str = "sans-serif";

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

/// A colour of Okabe and Ito, whom the colour-blind can tell apart, and a width.
fn style(kind: Kind) -> ShapeStyle {
    let (red, green, blue, width) = match kind {
        Kind::Filch => (213, 94, 0, 3),
        Kind::Fifo => (0, 0, 0, 2),
        Kind::AlwaysWait => (0, 114, 178, 2),
        Kind::TwoChoices => (204, 121, 167, 2),
        Kind::NearFirst => (0, 158, 115, 2),
    };
    RGBColor(red, green, blue).stroke_width(width)
}

/// A curve of a policy.
struct Curve {
    kind: Kind,
    points: Vec<(f64, f64)>,
    /// Whether each point is marked.
    marked: bool,
}

/// What stands around the curves.
struct Frame<'a> {
    title: &'a str,
    x: &'a str,
    y: &'a str,
    legend: SeriesLabelPosition,
}

/// Draws all into the folder, which is made. The files, in the order of the page.
pub(super) fn draw(folder: &Path, shown: &Shown<'_>) -> Result<Vec<PathBuf>, BuildSimulateError> {
    let unmade = |error| BuildSimulateError::Folder(folder.to_owned(), error);
    fs::create_dir_all(folder).map_err(unmade)?;
    let mut files = Vec::new();
    type Draw = fn(&Path, &Shown<'_>) -> Result<(), Box<dyn Error>>;
    let plots: [(&str, Draw); 4] = [
        ("ratios.svg", ratios),
        ("timeouts.svg", timeouts),
        ("waits.svg", waits),
        ("busy.svg", busy),
    ];
    for (name, plot) in plots {
        let file = folder.join(name);
        let unwritten =
            |error: Box<dyn Error>| BuildSimulateError::Plot(file.clone(), error.to_string());
        plot(&file, shown).map_err(unwritten)?;
        files.push(file);
    }
    Ok(files)
}

fn ratios(file: &Path, shown: &Shown<'_>) -> Result<(), Box<dyn Error>> {
    let frame = Frame {
        title: "The slower the link, the more a near worker is worth",
        x: "transfer of all inputs / run time of all jobs",
        y: "makespan / lower bound",
        legend: SeriesLabelPosition::UpperLeft,
    };
    let curves = curves(shown.ratios, shown.least);
    let (x, y) = (span(shown.ratios), heights(&curves));
    plot(file, &frame, x.log_scale(), y.log_scale(), &curves)
}

fn timeouts(file: &Path, shown: &Shown<'_>) -> Result<(), Box<dyn Error>> {
    let frame = Frame {
        title: "How long a job is kept for near workers",
        x: "deps timeout, seconds",
        y: "makespan / lower bound",
        legend: SeriesLabelPosition::UpperLeft,
    };
    let mut curves = curves(shown.timeouts, shown.least);
    let x = span(shown.timeouts);
    // The others have no timeout: their lines are level.
    for figures in shown
        .policies
        .iter()
        .filter(|figures| !figures.kind.waits())
    {
        let height = figures.makespan as f64 / shown.least;
        curves.push(Curve {
            kind: figures.kind,
            points: vec![(x.start, height), (x.end, height)],
            marked: false,
        });
    }
    let y = heights(&curves);
    plot(file, &frame, x.log_scale(), y.log_scale(), &curves)
}

fn waits(file: &Path, shown: &Shown<'_>) -> Result<(), Box<dyn Error>> {
    let frame = Frame {
        title: "How long jobs wait from being ready to their start",
        x: "seconds",
        y: "jobs that wait no longer, per cent",
        legend: SeriesLabelPosition::UpperLeft,
    };
    let curve = |figures: &Figures| Curve {
        kind: figures.kind,
        points: {
            let points = figures.waits.curve.iter();
            points
                .map(|&(time, share)| (time as f64 / 1e9, 100.0 * share))
                .collect()
        },
        marked: false,
    };
    let curves: Vec<_> = shown.policies.iter().map(curve).collect();
    let ends = curves.iter().filter_map(|curve| curve.points.last());
    let end = ends.map(|point| point.0).fold(0.01, f64::max);
    plot(
        file,
        &frame,
        (0.001..end).log_scale(),
        ticks(0.0..100.0),
        &curves,
    )
}

fn busy(file: &Path, shown: &Shown<'_>) -> Result<(), Box<dyn Error>> {
    let frame = Frame {
        title: "How many jobs run or fetch their inputs",
        x: "seconds since the begin",
        y: "jobs at a time",
        legend: SeriesLabelPosition::LowerRight,
    };
    let curve = |figures: &Figures| {
        let part = figures.busy.part as f64 / 1e9;
        let at = |(number, &jobs): (usize, &f64)| ((number as f64 + 0.5) * part, jobs);
        Curve {
            kind: figures.kind,
            points: figures.busy.jobs.iter().enumerate().map(at).collect(),
            marked: false,
        }
    };
    let curves: Vec<_> = shown.policies.iter().map(curve).collect();
    let ends = shown
        .policies
        .iter()
        .map(|figures| figures.makespan as f64 / 1e9);
    let end = ends.fold(0.0, f64::max);
    let most = shown.slots as f64 * 1.05;
    plot(file, &frame, ticks(0.0..end), ticks(0.0..most), &curves)
}

fn ticks(range: Range<f64>) -> RangedCoordf64 {
    range.into()
}

/// Makespans over what was swept, in lower bounds.
fn curves(sweep: &Sweep, least: f64) -> Vec<Curve> {
    let lines = sweep.lines.iter();
    let curve = |line: &super::sweep::Line| Curve {
        kind: line.kind,
        points: {
            let heights = line.makespans.iter().map(|&time| time as f64 / least);
            sweep.at.iter().copied().zip(heights).collect()
        },
        marked: true,
    };
    lines.map(curve).collect()
}

fn span(sweep: &Sweep) -> Range<f64> {
    let ends = (sweep.at.first(), sweep.at.last());
    let (Some(&first), Some(&last)) = ends else {
        unreachable!("a sweep has places");
    };
    first..last
}

/// From just below one, which nothing is below, to above all.
fn heights(curves: &[Curve]) -> Range<f64> {
    let points = curves.iter().flat_map(|curve| &curve.points);
    0.95..points.map(|point| point.1).fold(2.0, f64::max) * 1.3
}

/// Draws the curves: those of filch last, so that they are above the others.
fn plot<X, Y>(
    file: &Path,
    frame: &Frame<'_>,
    x: X,
    y: Y,
    curves: &[Curve],
) -> Result<(), Box<dyn Error>>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(frame.title, (FONT, 20))
            .margin(14)
            .x_label_area_size(46)
            .y_label_area_size(64)
            .build_cartesian_2d(x, y)?;
        let number = |value: &f64| format!("{value}");
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_desc(frame.x)
            .y_desc(frame.y)
            .x_label_formatter(&number)
            .y_label_formatter(&number)
            .axis_desc_style((FONT, 16))
            .label_style((FONT, 14))
            .draw()?;
        for curve in curves.iter().rev() {
            let style = style(curve.kind);
            let points = curve.points.iter().copied();
            let series = LineSeries::new(points.clone(), style);
            let series = series.point_size(if curve.marked { 3 } else { 0 });
            chart
                .draw_series(series)?
                .label(curve.kind.to_string())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], style));
        }
        chart
            .configure_series_labels()
            .position(frame.legend.clone())
            .label_font((FONT, 15))
            .background_style(WHITE.mix(0.9))
            .border_style(BLACK.mix(0.4))
            .legend_area_size(28)
            .margin(12)
            .draw()?;
        root.present()?;
    }
    fs::write(file, svg)?;
    Ok(())
}
