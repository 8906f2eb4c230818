//! Four plots of the simulations, as SVG.

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

/// The data of the plots.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    pub(super) ratios: &'a Sweep,
    pub(super) timeouts: &'a Sweep,
    /// Each policy with the settings as given.
    pub(super) policies: &'a [Figures],
    /// The lower bound of the makespan, in nanoseconds.
    pub(super) least: f64,
    /// The most jobs that run at a time.
    pub(super) slots: u64,
}

/// Returns a colour of Okabe and Ito, which the colour-blind can tell apart. Curves drawn first are
/// wider, so that they show below others.
fn style(kind: Kind) -> ShapeStyle {
    let (red, green, blue, width) = match kind {
        Kind::Filch => (213, 94, 0, 2),
        Kind::Fifo => (0, 0, 0, 2),
        Kind::AlwaysWait => (0, 114, 178, 2),
        Kind::TwoChoices => (204, 121, 167, 5),
        Kind::NearFirst => (0, 158, 115, 6),
    };
    RGBColor(red, green, blue).stroke_width(width)
}

/// A curve of a policy.
struct Curve {
    kind: Kind,
    points: Vec<(f64, f64)>,
    /// Set if each point is marked.
    marked: bool,
}

/// The frame around the curves.
struct Frame<'a> {
    title: &'a str,
    x: &'a str,
    y: &'a str,
    legend: SeriesLabelPosition,
}

/// Makes the folder.
pub(super) fn prepare(folder: &Path) -> Result<(), BuildSimulateError> {
    let unmade = |error| BuildSimulateError::Folder(folder.to_owned(), error);
    fs::create_dir_all(folder).map_err(unmade)
}

/// Draws all into the folder, and returns the files.
pub(super) fn draw(folder: &Path, shown: &Shown<'_>) -> Result<Vec<PathBuf>, BuildSimulateError> {
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
        title: "Slower and slower links: below 1, a policy is faster than FIFO",
        x: "transfer of all inputs / run time of all jobs",
        y: "makespan / makespan of FIFO",
        legend: SeriesLabelPosition::UpperLeft,
    };
    let mut curves = curves(shown.ratios, 1.0);
    if let Some(fifo) = shown.ratios.line(Kind::Fifo) {
        for curve in &mut curves {
            for (point, &unit) in curve.points.iter_mut().zip(&fifo.makespans) {
                point.1 /= unit as f64;
            }
        }
    }
    let (x, y) = (span(shown.ratios), heights(&curves));
    plot(file, &frame, x.log_scale(), y, &curves)
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
    plot(file, &frame, x.log_scale(), y, &curves)
}

fn waits(file: &Path, shown: &Shown<'_>) -> Result<(), Box<dyn Error>> {
    let frame = Frame {
        title: "How long jobs wait from being ready to their start",
        x: "seconds",
        y: "jobs that wait no longer, per cent",
        legend: SeriesLabelPosition::LowerRight,
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
    // Leaves room for the legend beyond the longest wait.
    let end = 30.0 * ends.map(|point| point.0).fold(0.01, f64::max);
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
        legend: SeriesLabelPosition::UpperRight,
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
    // Leaves room for the legend above all slots.
    let most = shown.slots as f64 * 1.5;
    plot(file, &frame, ticks(0.0..end), ticks(0.0..most), &curves)
}

fn ticks(range: Range<f64>) -> RangedCoordf64 {
    range.into()
}

/// Returns the makespans over the changed values, in lower bounds.
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

/// Returns a range from below all points to above them, with room for the legend.
fn heights(curves: &[Curve]) -> RangedCoordf64 {
    let heights = || {
        curves
            .iter()
            .flat_map(|curve| &curve.points)
            .map(|point| point.1)
    };
    let (least, most) = (heights().fold(1.0, f64::min), heights().fold(1.1, f64::max));
    let margin = (most - least) * 0.08;
    ticks(least - margin..most + 6.0 * margin)
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
            .margin_right(30)
            .x_label_area_size(46)
            .y_label_area_size(64)
            .build_cartesian_2d(x, y)?;
        // Rounds sums of a step such as 0.1, which are rarely exact.
        let number = |value: &f64| format!("{}", (value * 1e4).round() / 1e4);
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
