//! `cargo xtask test`: everything a contributor must pass.

use std::process::{Command, ExitCode, Stdio};

use crate::commands::loom;
use crate::commands::shuttle;
use crate::support::error::Result;
use crate::support::process::cargo;
use crate::support::stages::Stages;
use crate::support::tally::{Tally, libtest, nextest};

pub(crate) fn run() -> Result<ExitCode> {
    let mut stages = Stages::default();
    add_stages(&mut stages);
    Ok(stages.summary())
}

/// The stages of `test`, for `ci` to run among its own.
pub(crate) fn add_stages(stages: &mut Stages) {
    stages.run("unit, property and integration tests", code_tests);
    stages.run("documentation tests", doc_tests);
    stages.run("models, at their committed bounds", || {
        loom::explore(&loom::Options::default())
    });
    stages.run("whole pools and schedulers, random schedules", || {
        shuttle::explore(&shuttle::Options::default())
    });
}

fn code_tests() -> Result<Tally> {
    if has_nextest() {
        let mut command = cargo();
        command.args(["nextest", "run", "--workspace", "--no-fail-fast"]);
        return nextest(&mut command);
    }
    let mut command = cargo();
    command.args(["test", "--workspace", "--no-fail-fast"]);
    command.args(["--lib", "--bins", "--tests", "--examples"]);
    libtest(&mut command)
}

fn doc_tests() -> Result<Tally> {
    let mut command = cargo();
    command.args(["test", "--workspace", "--no-fail-fast", "--doc"]);
    libtest(&mut command)
}

fn has_nextest() -> bool {
    let mut probe: Command = cargo();
    probe.args(["nextest", "--version"]);
    probe.stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}
