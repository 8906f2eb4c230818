//! `cargo xtask soak`: schedulers under faults of all kinds, for as long as asked.
//!
//! The program is the package `soak`. This builds it, and passes the options on.

use std::process::{Command, ExitCode};

use clap::Args;

use crate::support::error::Result;
use crate::support::process::{Tree, cargo, tee};
use crate::support::tally::{Tally, closing_tally};

#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// Passed to the program: --seconds N, --seed N, --help, …
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// CI's seeds, for half a minute each. Not of a seed of the day: a change is not to fail by what
/// another one did.
const CI_SEEDS: [&str; 2] = ["14", "1"];
const CI_SECONDS: &str = "30";

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    Ok(soak(cargo(), &options.arguments)?.exit_code())
}

/// A minute of it, with seeds that are always the same. Built where the rest of the tree is not,
/// which is compiled meanwhile.
pub(crate) fn for_ci() -> Result<Tally> {
    let mut tally = Tally::default();
    for seed in CI_SEEDS {
        let arguments = ["--seconds", CI_SECONDS, "--seed", seed].map(str::to_owned);
        tally += soak(Tree::here("optimised").cargo(), &arguments)?;
    }
    Ok(tally)
}

/// Builds the program, optimised, with every assertion, as the models are; and runs it. It prints
/// its seed, and its tally last.
fn soak(mut cargo: Command, arguments: &[String]) -> Result<Tally> {
    cargo.args([
        "run",
        "--quiet",
        "--profile",
        "loom",
        "--package",
        "soak",
        "--",
    ]);
    // The caller's directory, so that the report is where they expect it.
    cargo.args(arguments).current_dir(std::env::current_dir()?);
    let (status, output) = tee(&mut cargo)?;
    Ok(closing_tally(status, &output))
}
