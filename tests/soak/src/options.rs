//! The command line.

use std::path::PathBuf;

use clap::Parser;

/// Runs schedulers under faults of all kinds for as long as asked, and keeps accounts of
/// everything. Exits with 0 if all held, with 1 if something did not, with 3 if something hangs.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    /// How long to go on.
    #[arg(long, default_value_t = 60)]
    pub(crate) seconds: u64,

    /// What decides the plan; of the time, if none is given.
    #[arg(long)]
    pub(crate) seed: Option<u64>,

    /// Only this phase of the plan, over and over.
    #[arg(long)]
    pub(crate) phase: Option<u64>,

    /// Prints the plan of the phases as they begin.
    #[arg(long)]
    pub(crate) plan: bool,

    /// Writes the report, as Markdown, to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}
