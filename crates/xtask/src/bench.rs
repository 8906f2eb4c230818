//! `cargo xtask bench`: builds the comparisons in release and runs them.

use std::process::ExitCode;

use clap::Args;

use crate::Result;
use crate::process::cargo;
use crate::stages::Tally;

#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// Passed to `filch-benches`: --quick, --group GROUP, --json FILE, --help, …
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let mut command = cargo();
    command.args([
        "run",
        "--quiet",
        "--release",
        "--package",
        "filch-benches",
        "--",
    ]);
    // The caller's directory, so that `--json FILE` is where they expect it.
    command
        .args(&options.arguments)
        .current_dir(std::env::current_dir()?);
    Ok(Tally::of(command.status()?.success()).exit_code())
}
