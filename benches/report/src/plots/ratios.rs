//! Ratios to the best rival: a row each, on a logarithmic axis, with what is lost on the right.

use std::error::Error;

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::style::{BLUE, GREY, ORANGE, text};
use crate::estimate::{Estimate, Short};
use crate::ratio::{Ratio, Verdict};
use crate::run::{Role, Run, Scenario};

const WIDTH: i32 = 1060;
const ROW: i32 = 24;
/// Above the first row, and below the last.
const TOP: i32 = 66;
const BOTTOM: i32 = 16;
/// The axis is between these: names are left of it, medians right.
const AXIS: [i32; 2] = [410, 740];
/// How far away from 1 the axis goes at least.
const LEAST: f64 = 2.0;

/// What a plot is about.
pub(crate) struct Title {
    pub(crate) first: String,
    pub(crate) second: String,
}

impl Title {
    pub(crate) fn of(subject: &str, run: &Run) -> Self {
        let machine = &run.machine;
        let quick = if run.effort.quick {
            ", quick rounds"
        } else {
            ""
        };
        Self {
            first: format!("{subject}: cost beside the best rival's, below 1 is better"),
            second: format!(
                "{}, {} cores, {}, commit {}{quick}",
                machine.cpu, machine.cores, machine.rustc, machine.commit
            ),
        }
    }
}

/// A row: what is compared, how, and the two medians.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) ratio: Estimate,
    pub(crate) verdict: Verdict,
    pub(crate) medians: String,
}

impl Row {
    pub(crate) fn of(ratio: &Ratio<'_>) -> Self {
        let Scenario {
            group, scenario, ..
        } = ratio.scenario;
        // What tells it from our other contenders: `filch-deque lazy` is lazy.
        let ours = ratio.ours.name.as_str();
        let form = ours.strip_prefix(&format!("filch-{group}")).unwrap_or(ours);
        let form = form.trim_start_matches([',', ' ']);
        let name = if form.is_empty() || ratio.scenario.of(Role::Ours).count() == 1 {
            scenario.clone()
        } else {
            format!("{scenario} ({form})")
        };
        Self::called(name, ratio)
    }

    pub(crate) fn called(name: String, ratio: &Ratio<'_>) -> Self {
        Self {
            name,
            ratio: ratio.ratio,
            verdict: ratio.verdict(),
            medians: format!(
                "{} beside {} {}, {}",
                Short(ratio.ours.median()),
                Short(ratio.rival.median()),
                ratio.scenario.unit.split(' ').next().unwrap_or_default(),
                ratio.rival.name,
            ),
        }
    }
}

/// A logarithmic axis in pixels.
struct Axis {
    ends: [f64; 2],
}

impl Axis {
    fn of(rows: &[Row]) -> Self {
        let figures = rows.iter().flat_map(|row| {
            let ends = row.ratio.interval.unwrap_or([row.ratio.median; 2]);
            [row.ratio.median, ends[0], ends[1]]
        });
        let figures = figures.filter(|figure| figure.is_finite() && *figure > 0.0);
        let ends = figures.fold([1.0 / LEAST, LEAST], |[low, high], figure| {
            [figure.min(low), figure.max(high)]
        });
        // To powers of two.
        let [low, high] = ends.map(f64::log2);
        Self {
            ends: [low.floor(), high.ceil()],
        }
    }

    fn at(&self, ratio: f64) -> i32 {
        let [low, high] = self.ends;
        let part = ((ratio.log2() - low) / (high - low)).clamp(0.0, 1.0);
        AXIS[0] + (part * f64::from(AXIS[1] - AXIS[0])) as i32
    }

    /// The powers of two, or every second or fourth, so that there is room between them.
    fn ticks(&self) -> impl Iterator<Item = f64> {
        let [low, high] = self.ends.map(|end| end as i32);
        let step = 1 + (high - low) / 9;
        (low..=high)
            .filter(move |power| power % step == 0)
            .map(|power| 2_f64.powi(power))
    }
}

pub(crate) fn plot(title: &Title, rows: &[Row]) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    let bottom = TOP + ROW * rows.len() as i32;
    {
        let size = (WIDTH as u32, (bottom + BOTTOM) as u32);
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let axis = Axis::of(rows);
        root.draw(&Text::new(
            title.first.clone(),
            (10, 14),
            text(17, HPos::Left),
        ))?;
        root.draw(&Text::new(
            title.second.clone(),
            (10, 34),
            text(13, HPos::Left),
        ))?;
        for tick in axis.ticks() {
            let x = axis.at(tick);
            let width = if tick == 1.0 { 2 } else { 1 };
            let line = GREY
                .mix(if tick == 1.0 { 0.9 } else { 0.3 })
                .stroke_width(width);
            root.draw(&PathElement::new([(x, TOP - 4), (x, bottom)], line))?;
            let label = if tick < 1.0 {
                format!("1/{}", 1.0 / tick)
            } else {
                tick.to_string()
            };
            root.draw(&Text::new(label, (x, TOP - 13), text(12, HPos::Center)))?;
        }
        for (number, row) in (0..).zip(rows) {
            draw_row(&root, &axis, row, TOP + ROW * number + ROW / 2)?;
        }
        root.present()?;
    }
    Ok(svg)
}

fn draw_row<B: DrawingBackend>(
    root: &DrawingArea<B, plotters::coord::Shift>,
    axis: &Axis,
    row: &Row,
    y: i32,
) -> Result<(), Box<dyn Error>>
where
    B::ErrorType: 'static,
{
    let colour = match row.verdict {
        Verdict::Won => BLUE,
        Verdict::Lost => ORANGE,
        Verdict::Even => GREY,
    };
    let (one, here) = (axis.at(1.0), axis.at(row.ratio.median));
    let bar = [(one.min(here), y - 6), (one.max(here), y + 6)];
    root.draw(&Rectangle::new(bar, colour.mix(0.55).filled()))?;
    let [low, high] = row.ratio.interval.unwrap_or([row.ratio.median; 2]);
    let interval = [(axis.at(low), y), (axis.at(high), y)];
    root.draw(&PathElement::new(interval, colour.stroke_width(3)))?;
    root.draw(&Circle::new((here, y), 4, colour.filled()))?;
    let name = (AXIS[0] - 12, y);
    root.draw(&Text::new(row.name.clone(), name, text(13, HPos::Right)))?;
    let ratio = format!("{:.2}", row.ratio.median);
    let style = text(13, HPos::Right).color(&colour);
    root.draw(&Text::new(ratio, (AXIS[1] + 52, y), style))?;
    let medians = (AXIS[1] + 64, y);
    root.draw(&Text::new(
        row.medians.clone(),
        medians,
        text(12, HPos::Left),
    ))?;
    Ok(())
}
