//! The result, for people.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use filch::scheduler::Stats;

use super::protocol::Skip;
use super::words::Tally;

/// What was counted, and what the scheduler did for it.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) root: PathBuf,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) tally: Tally,
    pub(crate) skipped: Vec<Skip>,
    pub(crate) stats: Stats,
    pub(crate) elapsed: Duration,
}

impl Report {
    /// The report with the `top` most frequent words.
    pub(crate) fn table(&self, top: usize) -> Table<'_> {
        Table { report: self, top }
    }
}

/// A [`Report`] to print.
#[derive(Debug)]
pub(crate) struct Table<'report> {
    report: &'report Report,
    top: usize,
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { report, top } = self;
        for (word, count) in report.tally.top(*top) {
            writeln!(f, "{count:>10}  {word}")?;
        }
        if *top > 0 && report.tally.distinct() > 0 {
            writeln!(f)?;
        }
        writeln!(f, "folder          {}", report.root.display())?;
        writeln!(f, "files           {}", report.files)?;
        writeln!(f, "skipped         {}", report.skipped.len())?;
        writeln!(f, "bytes           {}", report.bytes)?;
        writeln!(f, "words           {}", report.tally.words())?;
        writeln!(f, "distinct words  {}", report.tally.distinct())?;
        writeln!(f)?;
        let all = report.stats.total();
        writeln!(
            f,
            "{} processes on {} workers: {} steps, {} messages, {} commands, in {:.1} ms",
            all.ended,
            report.stats.workers.len(),
            all.steps,
            all.messages,
            all.commands,
            report.elapsed.as_secs_f64() * 1e3,
        )?;
        writeln!(f, "{}", report.stats)
    }
}
