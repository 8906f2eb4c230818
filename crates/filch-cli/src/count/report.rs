//! The result, for people and for programs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use filch::scheduler::{Stats, WorkerStats};
use serde::Serialize;

use super::source::{Skip, Source};
use super::words::Tally;
use crate::columns::{cut, table};

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

    /// Returns the result as a table, with the `top` most frequent words.
    pub(crate) fn table(&self, top: usize) -> Table<'_> {
        Table { report: self, top }
    }

    /// Returns the statistics of the run: two tables, of the processes and of the processors.
    pub(crate) fn statistics(&self) -> String {
        let Self { stats, elapsed, .. } = self;
        let total = stats.total();
        let names = (0..stats.workers.len()).map(|worker| worker.to_string());
        let names = names.chain(["all".to_owned()]);
        let workers: Vec<_> = names.zip(stats.workers.iter().chain([&total])).collect();
        let of = |figures: fn(&WorkerStats) -> Vec<Figure>| {
            let heads = figures(&total).into_iter();
            let heads = heads.map(|(name, _)| name.replace('_', " "));
            let row = |(name, worker): &(String, &WorkerStats)| {
                let cells = figures(worker).into_iter();
                let cells = cells.map(|(_, figure)| figure.to_string());
                [name.clone()].into_iter().chain(cells).collect()
            };
            table(
                ["worker".to_owned()].into_iter().chain(heads),
                workers.iter().map(row),
            )
        };
        let milliseconds = elapsed.as_secs_f64() * 1e3;
        let (processes, processors) = (of(of_processes), of(of_processor));
        format!("time            {milliseconds:.1} ms\n\n{processes}\n{processors}")
    }

    /// Returns the result, with the statistics if wanted, as one line of JSON.
    pub(crate) fn json(&self, top: usize, statistics: bool) -> String {
        let all = |worker| [of_processes(worker), of_processor(worker)].concat();
        let all = |worker| all(worker).into_iter().collect();
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
                workers: self.stats.workers.iter().map(all).collect(),
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

/// A count, by its name.
type Figure = (&'static str, u64);

/// Returns the counts of a worker's processes.
fn of_processes(worker: &WorkerStats) -> Vec<Figure> {
    vec![
        ("ended", worker.ended),
        ("failed", worker.failed),
        ("steps", worker.steps),
        ("empty_steps", worker.empty_steps),
        ("messages", worker.messages),
        ("commands", worker.commands),
        ("completions", worker.completions),
    ]
}

/// Returns the counts of its processor.
fn of_processor(worker: &WorkerStats) -> Vec<Figure> {
    let processor = &worker.processor;
    vec![
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
}

/// The widest line: a longer one is cut.
const WIDTH: usize = 80;

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { report, top } = self;
        for (word, count) in report.tally.top(*top) {
            let count = format!("{count:>10}  ");
            let word = cut(word, WIDTH - count.len());
            writeln!(f, "{count}{word}")?;
        }
        if *top > 0 && report.tally.distinct() > 0 {
            writeln!(f)?;
        }
        let paths = report.paths().join(", ");
        writeln!(f, "paths           {}", cut(&paths, WIDTH - 16))?;
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
