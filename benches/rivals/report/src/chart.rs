//! Ratios to the best rival as SVG: a row each, on a logarithmic axis, with what is lost on the
//! right. It has no ground: every colour can be read on a light page and on a dark one.

use std::fmt::Write as _;

use crate::estimate::{Estimate, Short};
use crate::ratio::{Ratio, Verdict};
use crate::run::Run;

const WIDTH: i32 = 1140;
const ROW: i32 = 24;
/// Above the first row, and below the last.
const TOP: i32 = 66;
const BOTTOM: i32 = 16;
/// The axis is between these: names are left of it, medians right.
const AXIS: [i32; 2] = [410, 740];
/// The least distance from 1 that the axis shows, as a factor.
const LEAST: f64 = 2.0;

/// The colour of text and axes: as far from white as from black.
const GREY: &str = "#7D8590";
const BLUE: &str = "#2F81DC";
const ORANGE: &str = "#DB6D28";

/// A row: what is compared, how, and the two medians.
pub(crate) struct Row {
    name: &'static str,
    ratio: Estimate,
    verdict: Verdict,
    medians: String,
}

impl Row {
    pub(crate) fn of(name: &'static str, ratio: &Ratio<'_>) -> Self {
        Self {
            name,
            ratio: ratio.ratio,
            verdict: ratio.verdict(),
            medians: format!("{}, {}", medians(ratio), ratio.rival.name),
        }
    }

    fn ends(&self) -> [f64; 2] {
        self.ratio.interval.unwrap_or([self.ratio.median; 2])
    }
}

/// The two medians.
pub(crate) fn medians(ratio: &Ratio<'_>) -> String {
    let [ours, rival] = [ratio.ours, ratio.rival].map(|series| Short(series.median()));
    let unit = ratio.scenario.unit.split(' ').next().unwrap_or_default();
    format!("{ours} beside {rival} {unit}")
}

/// A logarithmic axis in pixels, from one power of two to another.
struct Axis([f64; 2]);

impl Axis {
    fn of(rows: &[Row]) -> Self {
        let figures = rows.iter().flat_map(|row| {
            let [low, high] = row.ends();
            [row.ratio.median, low, high]
        });
        let figures = figures.filter(|figure| figure.is_finite() && *figure > 0.0);
        let ends = figures.fold([1.0 / LEAST, LEAST], |[low, high], figure| {
            [figure.min(low), figure.max(high)]
        });
        Self([ends[0].log2().floor(), ends[1].log2().ceil()])
    }

    fn at(&self, ratio: f64) -> i32 {
        let [low, high] = self.0;
        let part = ((ratio.log2() - low) / (high - low)).clamp(0.0, 1.0);
        AXIS[0] + (part * f64::from(AXIS[1] - AXIS[0])) as i32
    }

    /// The powers of two, or every second or fourth, so that there is room between them.
    fn ticks(&self) -> impl Iterator<Item = f64> {
        let [low, high] = self.0.map(|end| end as i32);
        let step = 1 + (high - low) / 9;
        (low..=high)
            .filter(move |power| power % step == 0)
            .map(|power| 2_f64.powi(power))
    }
}

pub(crate) fn of(run: &Run, rows: &[Row]) -> String {
    let machine = &run.machine;
    let rounds = run.effort.in_words().replace("**", "");
    let bottom = TOP + ROW * rows.len() as i32;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{}\" \
         font-family=\"sans-serif\" font-size=\"13\" fill=\"{GREY}\">\n",
        bottom + BOTTOM
    );
    let title = "filch: cost beside the best rival's, below 1 is better";
    let place = format!(
        "{}, {} cores, {}, commit {}, rounds: {rounds}",
        machine.cpu, machine.cores, machine.rustc, machine.commit
    );
    let _ = writeln!(
        svg,
        "<text x=\"10\" y=\"20\" font-size=\"17\">{title}</text>"
    );
    let _ = writeln!(svg, "<text x=\"10\" y=\"39\">{place}</text>");
    let axis = Axis::of(rows);
    for tick in axis.ticks() {
        let x = axis.at(tick);
        let (width, opacity) = if tick == 1.0 { (2, 0.9) } else { (1, 0.3) };
        let label = match tick {
            1.0.. => tick.to_string(),
            _ => format!("1/{}", 1.0 / tick),
        };
        let _ = writeln!(
            svg,
            "<path d=\"M{x} {}V{bottom}\" stroke=\"{GREY}\" stroke-width=\"{width}\" \
             opacity=\"{opacity}\"/>\n\
             <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
            TOP - 4,
            TOP - 9
        );
    }
    for (number, row) in (0..).zip(rows) {
        draw(&mut svg, &axis, row, TOP + ROW * number + ROW / 2);
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw(svg: &mut String, axis: &Axis, row: &Row, y: i32) {
    let (colour, mark) = match row.verdict {
        Verdict::Won => (BLUE, ""),
        Verdict::Lost => (ORANGE, ""),
        Verdict::Level => (GREY, ""),
        Verdict::Unknown => (GREY, "? "),
    };
    let (one, here) = (axis.at(1.0), axis.at(row.ratio.median));
    let (left, width) = (one.min(here), (one - here).abs());
    let [low, high] = row.ends().map(|end| axis.at(end));
    let (name, median, medians) = (row.name, row.ratio.median, &row.medians);
    let (bar, line) = (y - 6, y + 5);
    let [names, ratios, others] = [AXIS[0] - 12, AXIS[1] + 52, AXIS[1] + 64];
    let _ = write!(
        svg,
        "<rect x=\"{left}\" y=\"{bar}\" width=\"{width}\" height=\"12\" fill=\"{colour}\" \
         opacity=\"0.55\"/>\n\
         <path d=\"M{low} {y}H{high}\" stroke=\"{colour}\" stroke-width=\"3\"/>\n\
         <circle cx=\"{here}\" cy=\"{y}\" r=\"4\" fill=\"{colour}\"/>\n\
         <text x=\"{names}\" y=\"{line}\" text-anchor=\"end\">{name}</text>\n\
         <text x=\"{ratios}\" y=\"{line}\" text-anchor=\"end\" fill=\"{colour}\">\
         {mark}{median:.2}</text>\n\
         <text x=\"{others}\" y=\"{line}\" font-size=\"12\">{}</text>\n",
        medians.replace('&', "&amp;").replace('<', "&lt;")
    );
}
