//! The table on the terminal, and the JSON file.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::Path;

use serde::Serialize;

use crate::harness::{Effort, Measured, Series};
use crate::machine::Machine;

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
                better: "lower",
                floor: series.floor,
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

/// The lowest median among the contenders that `belongs` selects; floors never count.
fn best(measured: &Measured, belongs: impl Fn(&Series) -> bool) -> Option<f64> {
    let medians = measured
        .series
        .iter()
        .filter(|series| !series.floor && belongs(series))
        .map(Series::median);
    medians.min_by(f64::total_cmp)
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
        .unwrap_or(0);
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
    text
}
