//! The tables on the terminal, and what is stored.

use std::fmt::Write as _;
use std::path::Path;

use filch_report::run::{self, Effort, Latencies, Machine, Point, Role, Run};
use filch_report::{Folder, Reasons};

use crate::measured::{Measured, Series};

/// The headings of latencies.
const QUANTILES: [&str; 4] = ["p50", "p99", "p99.9", "most"];

/// What was measured so far.
pub(crate) struct Report(Run);

impl Report {
    pub(crate) fn new(machine: Machine, effort: Effort) -> Self {
        Self(Run {
            machine,
            effort,
            results: Vec::new(),
        })
    }

    pub(crate) fn heading(&self) -> String {
        let Run {
            machine, effort, ..
        } = &self.0;
        format!(
            "{} · {} cores · {} · {}\ncommit {} · {} · load {} · {} rounds, order by seed {}\n",
            machine.cpu,
            machine.cores,
            machine.kernel,
            machine.rustc,
            machine.commit,
            machine.date,
            machine.load,
            effort.rounds,
            effort.seed,
        )
    }

    pub(crate) fn cores(&self) -> usize {
        self.0.machine.cores
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.results.is_empty()
    }

    /// Keeps the results of a scenario, and returns its table.
    pub(crate) fn add(
        &mut self,
        group: &'static str,
        measured: &Measured,
        point: Option<Point>,
    ) -> String {
        let contenders = measured.series.iter().map(|series| run::Series {
            name: series.contender.to_owned(),
            role: series.role,
            figures: series.figures().iter().copied().map(rounded).collect(),
            latencies: series.latencies(),
        });
        self.0.results.push(run::Scenario {
            group: group.to_owned(),
            scenario: measured.scenario.clone(),
            unit: measured.unit.to_owned(),
            better: measured.better,
            point,
            contenders: contenders.collect(),
        });
        table(group, measured)
    }

    pub(crate) fn write_json(&self, path: &Path) -> Result<(), String> {
        self.0.write(path)
    }

    /// Stores what was measured of a group, and returns what is wrong with the reasons.
    pub(crate) fn store(&self, group: &str, folder: &Stored) -> Result<Vec<String>, String> {
        let of_group = Run {
            results: self
                .0
                .results
                .iter()
                .filter(|own| own.group == group)
                .cloned()
                .collect(),
            ..self.0.clone()
        };
        folder.folder.store(&of_group, &folder.reasons)
    }
}

/// Where a report is stored, and the reasons that stand in it.
pub(crate) struct Stored {
    folder: Folder,
    reasons: Reasons,
}

impl Stored {
    /// The reasons were compiled in: the program may run where there is no repository.
    pub(crate) fn open(path: &Path, report: &Report) -> Result<Self, String> {
        Ok(Self {
            folder: Folder::open(path, &report.0.machine, report.0.effort)?,
            reasons: Reasons::parse(include_str!("../reasons.toml"))?,
        })
    }
}

/// A picosecond is below all noise.
fn rounded(figure: f64) -> f64 {
    (figure * 1000.0).round() / 1000.0
}

/// The best median among the contenders that `belongs` selects; floors never count.
fn best(measured: &Measured, belongs: impl Fn(&Series) -> bool) -> Option<f64> {
    let contenders = measured.series.iter();
    let belonging = contenders.filter(|series| series.role != Role::Floor && belongs(series));
    measured.better.best(belonging.map(Series::median))
}

/// A table of their own: what each contender's operations took over all rounds.
fn latencies(measured: &Measured, width: usize) -> String {
    let mut text = String::new();
    for series in &measured.series {
        let Some(latencies) = series.latencies() else {
            continue;
        };
        if text.is_empty() {
            let _ = write!(text, "  {:<width$}", "latencies");
            for heading in QUANTILES {
                let _ = write!(text, " {heading:>9}");
            }
            text.push('\n');
        }
        let _ = write!(text, "  {:<width$}", series.contender);
        let Latencies {
            p50,
            p99,
            p999,
            max,
        } = latencies;
        for quantile in [p50, p99, p999, max] {
            let _ = write!(text, " {quantile:>9.2}");
        }
        text.push('\n');
    }
    text
}

fn table(group: &str, measured: &Measured) -> String {
    let best_rival = best(measured, |series| series.role == Role::Rival);
    let best_of_all = best(measured, |_| true);
    let ratio = |series: &Series, to: Option<f64>| match to {
        Some(best) if series.role != Role::Floor => format!("{:.2}", series.median() / best),
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
        let note = if series.role == Role::Floor {
            "  floor"
        } else {
            ""
        };
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
