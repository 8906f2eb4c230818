//! `cargo xtask bench`: builds the comparisons in release and runs them; compares stored runs, and
//! publishes one.

mod alignment;
mod carry;
mod hello;
mod published;
mod rivals;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use filch_report::compare::Comparison;
use filch_report::run::Run;

use crate::support::error::Result;
use crate::support::process::cargo;
use crate::support::tally::Tally;

pub(crate) use published::complaints;

#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// Compares two stored runs, files or folders, row by row.
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"], exclusive = true)]
    compare: Option<Vec<PathBuf>>,

    /// Makes the tables of docs/performance.md and the chart of README.md from a stored run: from
    /// that folder, or from the one that is shown already.
    #[arg(long, num_args = 0..=1, value_name = "FOLDER", exclusive = true)]
    tables: Option<Option<PathBuf>>,

    /// Builds the comparisons so that they can be carried to another machine, as this file.
    #[arg(long, value_name = "FILE", exclusive = true)]
    carry: Option<PathBuf>,

    /// What a program pays for a scheduler: the time of a build from nothing, and its size.
    #[arg(long, exclusive = true)]
    hello: bool,

    /// Passed to `filch-benches`: --quick, --group GROUP, --report FOLDER, --help, …
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if let Some([before, after]) = options.compare.as_deref() {
        let (before, after) = (Run::read_all(before)?, Run::read_all(after)?);
        print!("{}", Comparison::of(&before, &after));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(folder) = &options.tables {
        published::write(folder.as_deref())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(file) = &options.carry {
        carry::build(file)?;
        return Ok(ExitCode::SUCCESS);
    }
    if options.hello {
        hello::run()?;
        return Ok(ExitCode::SUCCESS);
    }
    measure(&options.arguments)
}

fn measure(arguments: &[String]) -> Result<ExitCode> {
    let mut command = cargo();
    command.args([
        "run",
        "--quiet",
        "--profile",
        "measured",
        "--package",
        "filch-benches",
        "--",
    ]);
    alignment::align_branches(&mut command);
    if let Some(rival) = rivals::go()? {
        command.env("FILCH_GO_RIVAL", rival);
    }
    if let Some(rival) = rivals::beam()? {
        command.env("FILCH_BEAM_RIVAL", rival);
    }
    // The caller's directory, so that what is written is where they expect it.
    command
        .args(arguments)
        .current_dir(std::env::current_dir()?);
    Ok(Tally::of(command.status()?.success()).exit_code())
}
