//! `cargo xtask test`: everything a contributor must pass.

use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::Args;

use crate::commands::beside::Beside;
use crate::commands::loom;
use crate::commands::shuttle;
use crate::support::error::Result;
use crate::support::metadata::Workspace;
use crate::support::process::{cargo, run_within, runs};
use crate::support::programs;
use crate::support::stages::Stages;
use crate::support::tally::{Tally, tests};

/// An example that runs for longer has hung: they end by themselves, in no time.
const EXAMPLE_LIMIT: Duration = Duration::from_secs(60);

#[derive(Args)]
pub(crate) struct Options {
    /// Those of another workspace.
    of: Option<Beside>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let mut stages = Stages::default();
    if let Some(beside) = options.of {
        beside.add_tests(&mut stages);
        return Ok(stages.summary());
    }
    let workspace = Workspace::read()?;
    stages.run("unit, property and integration tests", || {
        code_tests(cargo(), &[])
    });
    add_documentation_stages(&workspace, &mut stages);
    stages.run("models, at their quick bounds", || {
        loom::explore(&loom::Options::all("quick"))
    });
    add_schedules(&mut stages);
    Ok(stages.summary())
}

/// The tests of these use each other's, so no package has them.
const UNPACKED: [&str; 2] = ["filch-actors", "filch-scheduler"];

/// Adds what `ci` runs of this, beside the models. The tests that are in packages are left out:
/// `ci` runs them there.
pub(crate) fn add_ci_stages(workspace: &Workspace, stages: &mut Stages) {
    let published = workspace.published().map(|(name, _)| name);
    let packed: Vec<_> = published.filter(|name| !UNPACKED.contains(name)).collect();
    stages.run("tests that no package has", || code_tests(cargo(), &packed));
    add_documentation_stages(workspace, stages);
}

/// The models at their committed bounds, and the random schedules.
pub(crate) fn add_models(stages: &mut Stages) {
    stages.run("models, at their committed bounds", || {
        loom::explore(&loom::Options::all("own"))
    });
    add_schedules(stages);
}

fn add_schedules(stages: &mut Stages) {
    stages.run("whole pools and schedulers, random schedules", || {
        shuttle::explore(&shuttle::Options::default())
    });
    stages.run(
        "tests of users' processes, random schedules",
        shuttle::tests_of_testing,
    );
}

fn add_documentation_stages(workspace: &Workspace, stages: &mut Stages) {
    stages.run("documentation tests", || doc_tests(cargo()));
    stages.run("examples", || examples(&cargo, workspace));
}

/// The tests of all packages but these.
pub(crate) fn code_tests(mut command: Command, left_out: &[&str]) -> Result<Tally> {
    let has_nextest = runs("cargo-nextest", "--version");
    if has_nextest {
        command.args(["nextest", "run"]);
    } else {
        command.args(["test", "--lib", "--bins", "--tests"]);
    }
    command.args(["--workspace", "--no-fail-fast"]);
    for package in left_out {
        command.args(["--exclude", package]);
    }
    if cfg!(target_os = "linux") && !has_nextest {
        // By this, libtest takes the option, and rustc, if a test runs it, is as stable as ever.
        let host = format!(
            "{}_UNKNOWN_LINUX_GNU",
            std::env::consts::ARCH.to_uppercase()
        );
        command.env(
            format!("CARGO_TARGET_{host}_RUNNER"),
            "env RUSTC_BOOTSTRAP=-1",
        );
        command.args(["--", "-Zunstable-options", "--report-time"]);
    }
    tests(&mut command)
}

pub(crate) fn doc_tests(mut command: Command) -> Result<Tally> {
    command.args(["test", "--workspace", "--no-fail-fast", "--doc"]);
    tests(&mut command)
}

/// Runs the examples of the published packages: each must end by itself, and well.
pub(crate) fn examples(cargo: &dyn Fn() -> Command, workspace: &Workspace) -> Result<Tally> {
    let mut tally = Tally::default();
    for (package, _) in workspace.published() {
        // One package at a time: two may have an example of the same name, and so the same place.
        let mut build = cargo();
        build.args(["build", "--quiet", "--package", package]);
        build.args(["--all-features", "--examples"]);
        for (name, program) in programs::build(&mut build, &["example"])? {
            let ended = run_within(&mut Command::new(program), EXAMPLE_LIMIT)?;
            let passed = ended.status.is_some_and(|status| status.success());
            let verdict = if passed { "ok" } else { "FAILED" };
            println!("{package}, {name}: {verdict}");
            if !passed {
                println!("{}", ended.output);
            }
            tally += Tally::of(passed);
        }
    }
    Ok(tally)
}
