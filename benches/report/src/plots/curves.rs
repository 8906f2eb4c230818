//! Medians over the number of workers, with their intervals.

use std::error::Error;

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::style::{BLUES, GREY, OTHERS, text};
use crate::estimate::Estimate;
use crate::run::{Machine, Role, Scenario, Series};

const SIZE: (u32, u32) = (860, 460);

/// One contender over the workers.
struct Line<'a> {
    name: &'a str,
    colour: RGBColor,
    /// Ours are wider.
    width: u32,
    points: Vec<(f64, Estimate)>,
}

pub(super) fn plot(
    curve: &str,
    points: &[&Scenario],
    machine: &Machine,
) -> Result<String, Box<dyn Error>> {
    let lines = lines(points);
    let [least, most] = ends(&lines);
    let workers = || {
        lines
            .iter()
            .flat_map(|line| line.points.iter().map(|(workers, _)| *workers))
    };
    let (first, last) = (
        workers().fold(f64::INFINITY, f64::min),
        workers().fold(1.0, f64::max),
    );
    let title = format!(
        "{curve}, {}; {}, {} cores, commit {}",
        points[0].unit, machine.cpu, machine.cores, machine.commit
    );
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        // Room for the legend is right of the curves.
        let (chart, legend) = root.split_horizontally(600);
        let mut chart = ChartBuilder::on(&chart)
            .caption(title, text(15, HPos::Left))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(64)
            .build_cartesian_2d(
                (first * 0.95..last * 1.05).log_scale().base(2.0),
                (least * 0.8..most * 1.25).log_scale(),
            )?;
        chart
            .configure_mesh()
            .axis_style(GREY)
            .bold_line_style(GREY.mix(0.3))
            .light_line_style(TRANSPARENT)
            .disable_x_mesh()
            // There is no half a worker.
            .x_label_formatter(&|workers| match workers.fract() {
                0.0 => workers.to_string(),
                _ => String::new(),
            })
            .y_label_formatter(&|median| median.to_string())
            .x_desc("workers")
            .axis_desc_style(text(14, HPos::Center))
            .label_style(text(12, HPos::Center))
            .draw()?;
        for (number, line) in (0..).zip(&lines) {
            let style = line.colour.stroke_width(line.width);
            let medians = line
                .points
                .iter()
                .map(|(at, estimate)| (*at, estimate.median));
            chart.draw_series(LineSeries::new(medians, style).point_size(3))?;
            for &(at, estimate) in &line.points {
                if let Some([low, high]) = estimate.interval {
                    let interval = [(at, low), (at, high)];
                    chart.draw_series([PathElement::new(interval, line.colour)])?;
                }
            }
            let y = 40 + 22 * number;
            legend.draw(&PathElement::new([(4, y), (28, y)], style))?;
            legend.draw(&Text::new(
                line.name.to_owned(),
                (36, y),
                text(13, HPos::Left),
            ))?;
        }
        root.present()?;
    }
    Ok(svg)
}

fn lines<'a>(points: &[&'a Scenario]) -> Vec<Line<'a>> {
    let (mut ours, mut others) = (BLUES.iter().cycle(), OTHERS.iter().cycle());
    let first = &points[0].contenders;
    let line = |series: &'a Series| {
        let (colour, width) = match series.role {
            Role::Ours => (ours.next().copied().unwrap_or(GREY), 3),
            _ => (others.next().copied().unwrap_or(GREY), 1),
        };
        let points = points.iter().filter_map(|scenario| {
            let mut contenders = scenario.contenders.iter();
            let own = contenders.find(|own| own.name == series.name)?;
            let workers = scenario.point.as_ref()?.workers;
            // A logarithm has no 0: what costs nothing is not drawn.
            (own.median() > 0.0).then(|| (workers as f64, own.estimate()))
        });
        Line {
            name: &series.name,
            colour,
            width,
            points: points.collect(),
        }
    };
    first.iter().map(line).collect()
}

fn ends(lines: &[Line<'_>]) -> [f64; 2] {
    let medians = lines.iter().flat_map(|line| &line.points);
    let medians = medians.map(|(_, estimate)| estimate.median);
    let ends = [f64::INFINITY, f64::MIN_POSITIVE];
    let [least, most] = medians.fold(ends, |[low, high], median| {
        [median.min(low), median.max(high)]
    });
    [least.min(most), most]
}
