//! `cargo xtask soak`: schedulers under faults of all kinds, for as long as asked.
//!
//! The program is the package `soak`. This builds it, and passes the options on.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Args;

use crate::support::error::Result;
use crate::support::process::{cargo, target_directory, tee_stdout};
use crate::support::tally::{Tally, closing_tally};

#[derive(Args, Default)]
pub(crate) struct Options {
    /// How long to go on. Default: 60.
    #[arg(long, value_name = "N", conflicts_with = "minutes")]
    seconds: Option<u64>,

    /// The same, in minutes.
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,

    /// What decides the plan; of the time, if none is given. It is printed.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Only this phase of the plan, over and over.
    #[arg(long, value_name = "N")]
    phase: Option<u64>,

    /// Print the plan of each phase as it begins, and the live heap after it.
    #[arg(long)]
    plan: bool,

    /// Write the report, as Markdown, to this file.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// What CI runs: half a minute of each. Not of a seed of the day: a change is not to fail by what
/// another one did.
const CI_SEEDS: [u64; 2] = [14, 1];
const CI_SECONDS: u64 = 30;

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    Ok(soak(cargo(), options)?.exit_code())
}

/// A minute of it, with seeds that are always the same. Built where the rest of the tree is not,
/// which is compiled meanwhile.
pub(crate) fn for_ci() -> Result<Tally> {
    let mut tally = Tally::default();
    for seed in CI_SEEDS {
        let mut cargo = cargo();
        cargo.env("CARGO_TARGET_DIR", target_directory("optimised"));
        let options = Options {
            seconds: Some(CI_SECONDS),
            seed: Some(seed),
            ..Options::default()
        };
        tally += soak(cargo, &options)?;
    }
    Ok(tally)
}

/// Builds the program, optimised, with every assertion, as the models are; and runs it. It prints
/// its seed, and its tally last.
fn soak(mut cargo: Command, options: &Options) -> Result<Tally> {
    cargo.args([
        "run",
        "--quiet",
        "--profile",
        "loom",
        "--package",
        "soak",
        "--",
    ]);
    let minutes = options.minutes.map(|minutes| 60 * minutes);
    let numbers = [
        ("--seconds", options.seconds.or(minutes)),
        ("--seed", options.seed),
        ("--phase", options.phase),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            cargo.args([name, &number.to_string()]);
        }
    }
    if options.plan {
        cargo.arg("--plan");
    }
    if let Some(file) = &options.report {
        cargo.arg("--report").arg(file);
    }
    // The caller's directory, so that the report is where they expect it.
    cargo.current_dir(std::env::current_dir()?);
    let (status, output) = tee_stdout(&mut cargo)?;
    Ok(closing_tally(status, &output))
}
