//! The result, for people and for programs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use console::truncate_str;
use filch::scheduler::{Stats, WorkerStats};
use serde::Serialize;

use super::source::{Skip, Source};
use super::words::Tally;
use crate::columns::Columns;

/// The counts, and the scheduler's statistics.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) roots: Vec<Source>,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) tally: Tally,
    pub(crate) skipped: Vec<Skip>,
    pub(crate) stats: Stats,
    pub(crate) elapsed: Duration,
}

impl Report {
    /// Lists the named sources that are not counted, or not to their end.
    pub(crate) fn failures(&self) -> impl Iterator<Item = &Skip> {
        self.skipped.iter().filter(|skip| skip.source.is_named())
    }

    /// Lists the files in folders that are not counted, or not to their end.
    pub(crate) fn passed_by(&self) -> impl Iterator<Item = &Skip> {
        self.skipped.iter().filter(|skip| !skip.source.is_named())
    }

    /// Returns whether no named source could be counted.
    pub(crate) fn is_void(&self) -> bool {
        self.bytes == 0 && self.failures().count() == self.roots.len()
    }

    /// Returns the result as a table of that width, with the `top` most frequent words.
    pub(crate) fn table(&self, top: usize, width: usize) -> Table<'_> {
        Table {
            report: self,
            top,
            width,
        }
    }

    /// Returns the statistics of the run, as tables of at most that many columns.
    pub(crate) fn statistics(&self, width: usize) -> String {
        let Self { stats, elapsed, .. } = self;
        let total = stats.total();
        let heads = figures(&total).map(|(name, _)| name.replace('_', " "));
        let mut table = Columns::new(["worker".to_owned()].into_iter().chain(heads));
        let names = (0..stats.workers.len()).map(|worker| worker.to_string());
        let workers = stats.workers.iter().chain([&total]);
        for (name, worker) in names.chain(["all".to_owned()]).zip(workers) {
            let cells = figures(worker).map(|(_, figure)| figure.to_string());
            table.row([name].into_iter().chain(cells));
        }
        let milliseconds = elapsed.as_secs_f64() * 1e3;
        format!(
            "time            {milliseconds:.1} ms\n\n{}",
            table.within(width)
        )
    }

    /// Returns the result, with the statistics if wanted, as one line of JSON.
    pub(crate) fn json(&self, top: usize, statistics: bool) -> String {
        let top = self.tally.top(top).into_iter();
        let skipped = self.skipped.iter().map(|skip| Skipped {
            path: skip.source.argument().into_owned(),
            reason: &skip.reason,
        });
        let document = Document {
            paths: self.paths(),
            files: self.files,
            bytes: self.bytes,
            words: self.tally.words(),
            distinct_words: self.tally.distinct(),
            top: top.map(|(word, count)| Frequency { word, count }).collect(),
            skipped: skipped.collect(),
            statistics: statistics.then(|| Statistics {
                seconds: self.elapsed.as_secs_f64(),
                workers: self
                    .stats
                    .workers
                    .iter()
                    .map(figures)
                    .map(BTreeMap::from)
                    .collect(),
            }),
        };
        match serde_json::to_string(&document) {
            Ok(json) => json + "\n",
            Err(error) => unreachable!("names, texts and numbers: {error}"),
        }
    }

    fn paths(&self) -> Vec<String> {
        let paths = self.roots.iter().map(Source::argument);
        paths.map(Cow::into_owned).collect()
    }
}

/// Returns the counts of a worker: first its processes, then its processor.
fn figures(worker: &WorkerStats) -> [(&'static str, u64); 12] {
    let processor = &worker.processor;
    [
        ("ended", worker.ended),
        ("failed", worker.failed),
        ("steps", worker.steps),
        ("empty_steps", worker.empty_steps),
        ("messages", worker.messages),
        ("commands", worker.commands),
        ("completions", worker.completions),
        ("stolen", processor.stolen),
        ("steals", processor.steals),
        ("failed_steals", processor.failed_steals),
        ("parks", processor.parks),
        ("wake_ups", processor.wake_ups),
    ]
}

/// A [`Report`] for people.
#[derive(Debug)]
pub(crate) struct Table<'report> {
    report: &'report Report,
    top: usize,
    width: usize,
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { report, top, width } = self;
        for (word, count) in report.tally.top(*top) {
            let count = format!("{count:>10}  ");
            let word = truncate_str(word, width - count.len(), "…");
            writeln!(f, "{count}{word}")?;
        }
        if *top > 0 && report.tally.distinct() > 0 {
            writeln!(f)?;
        }
        let paths = report.paths().join(", ");
        writeln!(
            f,
            "paths           {}",
            truncate_str(&paths, width - 16, "…")
        )?;
        writeln!(f, "files           {}", report.files)?;
        writeln!(f, "skipped         {}", report.skipped.len())?;
        writeln!(f, "bytes           {}", report.bytes)?;
        writeln!(f, "words           {}", report.tally.words())?;
        writeln!(f, "distinct words  {}", report.tally.distinct())
    }
}

/// A [`Report`] for programs.
#[derive(Serialize)]
struct Document<'report> {
    paths: Vec<String>,
    files: u64,
    bytes: u64,
    words: u64,
    distinct_words: usize,
    top: Vec<Frequency<'report>>,
    skipped: Vec<Skipped<'report>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<Statistics>,
}

#[derive(Serialize)]
struct Frequency<'report> {
    word: &'report str,
    count: u64,
}

#[derive(Serialize)]
struct Skipped<'report> {
    path: String,
    reason: &'report str,
}

#[derive(Serialize)]
struct Statistics {
    seconds: f64,
    workers: Vec<BTreeMap<&'static str, u64>>,
}
