//! Commands that have a name and no body yet: they say what they will do, and fail.

use std::process::ExitCode;

use clap::Args;

#[derive(Args)]
pub(crate) struct Options {
    /// What to select.
    _filter: Option<String>,
}

pub(crate) fn shuttle() -> ExitCode {
    refuse(
        "shuttle",
        "run whole schedulers under shuttle's random and PCT schedules, with fixed seeds",
    )
}

pub(crate) fn soak() -> ExitCode {
    refuse(
        "soak",
        "repeat the multi-threaded stress tests until it is stopped",
    )
}

fn refuse(command: &str, purpose: &str) -> ExitCode {
    eprintln!("`cargo xtask {command}` is not built yet. It will {purpose}.");
    ExitCode::from(2)
}
