//! `cargo xtask test`: everything a contributor must pass.

use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::Args;

use crate::commands::{loom, shuttle};
use crate::support::Result;
use crate::support::metadata::Workspace;
use crate::support::process::{BESIDE, cargo_in, run_within, runs};
use crate::support::programs;
use crate::support::stages::Stages;
use crate::support::tally::{Tally, tests};

/// An example that runs for longer has hung: they end by themselves, in no time.
const EXAMPLE_LIMIT: Duration = Duration::from_secs(60);

#[derive(Args)]
pub(crate) struct Options {
    /// Those of another workspace.
    #[arg(value_parser = BESIDE)]
    of: Option<String>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let mut stages = Stages::default();
    if let Some(beside) = &options.of {
        add_beside(beside, &mut stages);
        return Ok(stages.summary());
    }
    stages.run("unit, property and integration tests", || {
        code_tests("", &[])
    });
    add_documentation("", &mut stages);
    add_models("quick", &mut stages);
    Ok(stages.summary())
}

/// The tests of these use each other's, so no package has them.
const UNPACKED: [&str; 2] = ["filch-actors", "filch-scheduler"];

/// Adds what `ci` runs of this, beside the models. The tests that are in packages are left out:
/// `ci` runs them there.
pub(crate) fn add_ci_stages(workspace: &Workspace, stages: &mut Stages) {
    let packed = workspace.published().map(|package| &*package.name);
    let packed: Vec<_> = packed.filter(|name| !UNPACKED.contains(name)).collect();
    stages.run("tests that no package has", || code_tests("", &packed));
    add_documentation("", stages);
}

/// Adds the models at these bounds, and the random schedules.
pub(crate) fn add_models(bound: &str, stages: &mut Stages) {
    stages.run(format!("models, at their {bound} bounds"), || {
        loom::explore(&loom::Options::all(bound))
    });
    stages.run("whole pools and schedulers, random schedules", || {
        shuttle::explore(&shuttle::Options::default())
    });
    stages.add(
        "tests of users' processes, random schedules | shuttle | \
         test --package filch-testing --profile loom",
    );
}

/// Adds the tests and examples of a workspace beside this one.
pub(crate) fn add_beside(name: &str, stages: &mut Stages) {
    stages.run(
        format!("{name}: unit, property and integration tests"),
        || code_tests(name, &[]),
    );
    if name == "apps" {
        add_documentation(name, stages);
    }
}

fn add_documentation(place: &str, stages: &mut Stages) {
    stages.add(&format!(
        "documentation tests | {place} | test --workspace --no-fail-fast --doc"
    ));
    stages.run("examples", || examples(place));
}

/// The tests of all packages but these.
fn code_tests(place: &str, left_out: &[&str]) -> Result<Tally> {
    let mut command = cargo_in(place);
    if runs("cargo-nextest", "--version") {
        command.args(["nextest", "run"]);
    } else {
        command.args(["test", "--lib", "--bins", "--tests"]);
    }
    command.args(["--workspace", "--no-fail-fast"]);
    command.args(left_out.iter().flat_map(|package| ["--exclude", package]));
    tests(&mut command)
}

/// Runs the examples of the published packages: each must end by itself, and well.
fn examples(place: &str) -> Result<Tally> {
    let mut tally = Tally::default();
    for package in Workspace::read_by(cargo_in(place), &["--no-deps"])?.published() {
        let package = &package.name;
        // One package at a time: two may have an example of the same name, and so the same place.
        let mut build = cargo_in(place);
        build.args(["build", "--quiet", "--package", package]);
        build.args(["--all-features", "--examples"]);
        for (name, program) in programs::build(&mut build, &["example"])? {
            let ended = run_within(&mut Command::new(program), EXAMPLE_LIMIT)?;
            let passed = ended.status.is_some_and(|status| status.success());
            if passed {
                println!("{package}, {name}: ok");
            } else {
                println!("{package}, {name}: FAILED\n{}", ended.output);
            }
            tally += Tally::of(passed);
        }
    }
    Ok(tally)
}
