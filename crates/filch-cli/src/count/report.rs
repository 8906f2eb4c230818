//! The result, for people.

use std::fmt;
use std::time::Duration;

use filch::scheduler::{Stats, WorkerStats};

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
            let heads = heads.map(|(name, _)| name);
            let row = |(name, worker): &(String, &WorkerStats)| {
                let cells = figures(worker).into_iter();
                let cells = cells.map(|(_, figure)| figure.to_string());
                [name.clone()].into_iter().chain(cells).collect()
            };
            table(["worker"].into_iter().chain(heads), workers.iter().map(row))
        };
        let milliseconds = elapsed.as_secs_f64() * 1e3;
        let (processes, processors) = (of(of_processes), of(of_processor));
        format!("time            {milliseconds:.1} ms\n\n{processes}\n{processors}")
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
        ("empty steps", worker.empty_steps),
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
        ("failed steals", processor.failed_steals),
        ("parks", processor.parks),
        ("wake ups", processor.wake_ups),
    ]
}

/// A [`Report`] to print.
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
        let paths: Vec<_> = report.roots.iter().map(Source::argument).collect();
        let paths = paths.join(", ");
        writeln!(f, "paths           {}", cut(&paths, WIDTH - 16))?;
        writeln!(f, "files           {}", report.files)?;
        writeln!(f, "skipped         {}", report.skipped.len())?;
        writeln!(f, "bytes           {}", report.bytes)?;
        writeln!(f, "words           {}", report.tally.words())?;
        writeln!(f, "distinct words  {}", report.tally.distinct())
    }
}
