//! The command line.

use clap::Parser;

/// Runs schedulers under faults of all kinds for as long as asked, and keeps accounts of
/// everything. Exits with 0 if all checks held, with 1 if one did not, with 3 if something hangs.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    /// The time to run.
    #[arg(long, default_value_t = 60)]
    pub(crate) seconds: u64,

    /// The seed of the plan; by default, it is made of the time.
    #[arg(long)]
    pub(crate) seed: Option<u64>,

    /// Run only this phase of the plan, over and over.
    #[arg(long)]
    pub(crate) phase: Option<u64>,

    /// Print the plan of the phases as they begin, and the live heap after each.
    #[arg(long)]
    pub(crate) plan: bool,
}
