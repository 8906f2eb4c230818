//! The result, for people.

use std::fmt;
use std::time::Duration;

use filch::scheduler::Stats;

use super::opened::{Skip, Source};
use super::words::Tally;
use crate::columns::cut;

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

    /// Returns the statistics of the run.
    pub(crate) fn statistics(&self) -> String {
        let milliseconds = self.elapsed.as_secs_f64() * 1e3;
        format!("time            {milliseconds:.1} ms\n\n{}", self.stats)
    }
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
