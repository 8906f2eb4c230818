//! `cargo xtask shuttle`: has a name and no body yet, says so, and fails.

use std::process::ExitCode;

use clap::Args;

#[derive(Args)]
pub(crate) struct Options {
    /// What to select.
    _filter: Option<String>,
}

pub(crate) fn refuse() -> ExitCode {
    eprintln!(
        "`cargo xtask shuttle` is not built yet. It will run two or three whole workers under shuttle's random and PCT \
         schedules, with fixed seeds; it comes with issue 5, the processors. (That the code compiles with `--cfg \
         shuttle` is checked by `cargo xtask ci`.)"
    );
    ExitCode::from(2)
}
