//! `cargo xtask soak`: the integration tests of the crates, in release, over and over.
//!
//! What stress tests look for needs luck: a preemption between two instructions. This buys it by
//! repetition.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use clap::Args;

use crate::support::error::Result;
use crate::support::metadata::Workspace;
use crate::support::process::{cargo, run_within};
use crate::support::programs::{self, Kind};
use crate::support::tally::Tally;

#[derive(Args)]
pub(crate) struct Options {
    /// How long to go on.
    #[arg(long, value_name = "MINUTES", default_value_t = 10)]
    minutes: u64,

    /// Only the tests whose name contains this, for example `stress`.
    #[arg(default_value = "")]
    filter: String,
}

/// A program that runs for longer has hung: they take seconds.
const LIMIT: Duration = Duration::from_secs(300);

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let mut build = cargo();
    build.args(["test", "--no-run", "--release", "--tests"]);
    let workspace = Workspace::read()?;
    let packages = workspace.reachable_from("filch");
    for package in packages.into_iter().chain(["linearizability"]) {
        build.args(["--package", package]);
    }
    let programs = programs::build(&mut build, Kind::Test)?;
    let began = Instant::now();
    let mut tally = Tally::default();
    for round in 1.. {
        for (name, program) in &programs {
            let ended = run_within(Command::new(program).arg(&options.filter), LIMIT)?;
            let passed = ended.status.is_some_and(|status| status.success());
            if !passed {
                println!(
                    "round {round}, {name}: failed, or ran for longer than {LIMIT:?}\n{}",
                    ended.output
                );
            }
            tally += Tally::of(passed);
        }
        println!(
            "round {round}: {tally}, {:.0} s",
            began.elapsed().as_secs_f64()
        );
        if began.elapsed() >= Duration::from_secs(60 * options.minutes) {
            break;
        }
    }
    println!("{tally}");
    Ok(tally.exit_code())
}
