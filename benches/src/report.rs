//! The table on the terminal, and the JSON file.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::Path;

use serde::Serialize;

use crate::harness::Effort;
use crate::machine::Machine;
use crate::measured::{Measured, Series};

/// The quantiles of latencies that are shown, and their headings.
const QUANTILES: [(f64, &str); 4] = [
    (0.5, "p50"),
    (0.99, "p99"),
    (0.999, "p99.9"),
    (1.0, "worst"),
];

/// What `--json` writes.
#[derive(Serialize)]
pub(crate) struct Report {
    machine: Machine,
    results: Vec<Row>,
    #[serde(skip)]
    heading: String,
}

#[derive(Serialize)]
struct Row {
    group: &'static str,
    scenario: String,
    contender: &'static str,
    unit: &'static str,
    median: f64,
    min: f64,
    max: f64,
    better: &'static str,
    floor: bool,
    /// Over the latencies of all rounds, if they were taken: as in [`QUANTILES`].
    #[serde(skip_serializing_if = "Option::is_none")]
    quantiles: Option<[f64; QUANTILES.len()]>,
}

impl Report {
    pub(crate) fn new(machine: Machine, effort: Effort, seed: u64) -> Self {
        let heading = format!(
            "{} · {} cores · {} · {}\ncommit {} · {} · {} rounds, order by seed {seed}\n",
            machine.cpu,
            machine.cores,
            machine.kernel,
            machine.rustc,
            machine.commit,
            machine.date,
            effort.rounds,
        );
        Self {
            machine,
            results: Vec::new(),
            heading,
        }
    }

    pub(crate) fn heading(&self) -> &str {
        &self.heading
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Keeps the results of a scenario, and returns its table.
    pub(crate) fn add(&mut self, group: &'static str, measured: &Measured) -> String {
        for series in &measured.series {
            self.results.push(Row {
                group,
                scenario: measured.scenario.clone(),
                contender: series.contender,
                unit: measured.unit,
                median: rounded(series.median()),
                min: rounded(series.min()),
                max: rounded(series.max()),
                better: measured.better.name(),
                floor: series.floor,
                quantiles: quantiles(series).map(|all| all.map(rounded)),
            });
        }
        table(group, measured)
    }

    pub(crate) fn write_json(&self, path: &Path) -> io::Result<()> {
        serde_json::to_writer_pretty(File::create(path)?, self)?;
        Ok(())
    }
}

/// A picosecond is below all noise.
fn rounded(figure: f64) -> f64 {
    (figure * 1000.0).round() / 1000.0
}

fn is_ours(series: &Series) -> bool {
    series.contender.starts_with("filch")
}

/// The best median among the contenders that `belongs` selects; floors never count.
fn best(measured: &Measured, belongs: impl Fn(&Series) -> bool) -> Option<f64> {
    let contenders = measured.series.iter();
    let belonging = contenders.filter(|series| !series.floor && belongs(series));
    measured.better.best(belonging.map(Series::median))
}

/// `None` without latencies.
fn quantiles(series: &Series) -> Option<[f64; QUANTILES.len()]> {
    series.quantile(0.0)?;
    let quantile = |(part, _)| series.quantile(part).unwrap_or_default();
    Some(QUANTILES.map(quantile))
}

/// A table of their own: what each contender's operations took over all rounds.
fn latencies(measured: &Measured, width: usize) -> String {
    let mut text = String::new();
    for series in &measured.series {
        let Some(quantiles) = quantiles(series) else {
            continue;
        };
        if text.is_empty() {
            let _ = write!(text, "  {:<width$}", "latencies");
            for (_, heading) in QUANTILES {
                let _ = write!(text, " {heading:>9}");
            }
            text.push('\n');
        }
        let _ = write!(text, "  {:<width$}", series.contender);
        for quantile in quantiles {
            let _ = write!(text, " {quantile:>9.2}");
        }
        text.push('\n');
    }
    text
}

fn table(group: &str, measured: &Measured) -> String {
    let best_rival = best(measured, |series| !is_ours(series));
    let best_of_all = best(measured, |_| true);
    let ratio = |series: &Series, to: Option<f64>| match to {
        Some(best) if !series.floor => format!("{:.2}", series.median() / best),
        _ => String::new(),
    };
    let width = measured
        .series
        .iter()
        .map(|series| series.contender.len())
        .max()
        .unwrap_or(0)
        .max("latencies".len());
    let mut text = format!("{group}: {}, {}\n", measured.scenario, measured.unit);
    let headings = ["median", "min", "max", "spread", "/ rival", "/ best"];
    let _ = write!(text, "  {:<width$}", "");
    for heading in headings {
        let _ = write!(text, " {heading:>9}");
    }
    text.push('\n');
    for series in &measured.series {
        let name = series.contender;
        let note = if series.floor { "  floor" } else { "" };
        let _ = writeln!(
            text,
            "  {name:<width$} {:>9.2} {:>9.2} {:>9.2} {:>8.0}% {:>9} {:>9}{note}",
            series.median(),
            series.min(),
            series.max(),
            series.spread() * 100.0,
            ratio(series, best_rival),
            ratio(series, best_of_all),
        );
    }
    text.push_str(&latencies(measured, width));
    text.extend(measured.bars.iter().filter_map(|bar| bar.verdict(measured)));
    text
}
