//! `cargo xtask test`: everything a contributor must pass.

use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;

use clap::Args;

use crate::commands::{loom, shuttle};
use crate::support::Result;
use crate::support::metadata::Workspace;
use crate::support::parallel;
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
        add_tests(beside, &[], &mut stages);
    } else {
        add_tests("", &[], &mut stages);
        add_models("quicker", &mut stages);
    }
    Ok(stages.summary())
}

/// The tests of these use each other's, so no package has them.
const UNPACKED: [&str; 2] = ["filch-actors", "filch-scheduler"];

/// Adds what `ci` runs of this beside the models, but for the tests that it runs in packages.
pub(crate) fn add_ci_stages(workspace: &Workspace, stages: &mut Stages) {
    let packed = workspace.published().map(|package| &*package.name);
    let packed: Vec<_> = packed.filter(|name| !UNPACKED.contains(name)).collect();
    add_tests("", &packed, stages);
}

/// Adds the models at these bounds, `quicker` or `most`, and random schedules.
pub(crate) fn add_models(bound: &str, stages: &mut Stages) {
    let name = format!("models, at bounds that are {bound}");
    stages.run(name, || loom::all(bound));
    let name = "whole pools and schedulers, random schedules";
    stages.run(name, shuttle::all);
    let tests = "test --package filch-testing --profile loom";
    let name = "tests of users' processes, random schedules";
    stages.add(&format!("{name} | shuttle | {tests}"));
}

/// The module of the tests with programs of others, where there are some.
const FOREIGN: &str = "foreign::";

/// Adds the tests of a workspace, but for some packages', and its examples; rivals are not taught.
pub(crate) fn add_tests(place: &str, left_out: &[&str], stages: &mut Stages) {
    let of = if place.is_empty() { "" } else { ": " };
    let name = |what| format!("{place}{of}{what}");
    let run = |at_once: usize, filter: &[&str]| {
        let mut command = cargo_in(place);
        if runs("cargo-nextest", "--version") {
            command.args(["nextest", "run"]);
        } else {
            command.args(["test", "--lib", "--bins", "--tests"]);
        }
        let threads = (at_once * thread::available_parallelism()?.get()).to_string();
        command.envs(["NEXTEST_TEST_THREADS", "RUST_TEST_THREADS"].map(|name| (name, &threads)));
        command.args(packages(place)).arg("--no-fail-fast");
        command.args(left_out.iter().flat_map(|package| ["--exclude", package]));
        tests(command.arg("--").args(filter))
    };
    let skipped = (place == "apps").then_some(["--skip", FOREIGN]);
    stages.run(name("unit, property and integration tests"), || {
        // Some only wait, seconds long, for threads that are left to themselves.
        run(4, skipped.as_slice().as_flattened())
    });
    if place == "apps" {
        let title = name("tests with programs of others");
        // These are servers that answer within a time, or have threads enough of their own.
        stages.run(title, || run(1, &[FOREIGN]));
    }
    if place != "rivals" {
        let packages = packages(place).join(" ");
        let tests = format!("test {packages} --no-fail-fast --doc");
        let title = name("documentation tests");
        stages.add(&format!("{title} | {place} | {tests}"));
        stages.run(name("examples"), || examples(place));
    }
}

/// The arguments that select a workspace's packages with tests. With the benches, which have none,
/// cargo would build all that they need, and twice what they share with the others.
fn packages(place: &str) -> &'static [&'static str] {
    match place {
        "" => &["--workspace", "--exclude", "filch-operations"],
        _ => &["--workspace"],
    }
}

/// Runs the examples, which the tests' build has built: each must end by itself, and well.
fn examples(place: &str) -> Result<Tally> {
    let mut build = cargo_in(place);
    build.args(["build", "--quiet", "--examples"]);
    build.args(packages(place));
    let programs = programs::build(&mut build, &["example"])?;
    let ends = parallel::map(&programs, |(_, program)| {
        run_within(&mut Command::new(program), EXAMPLE_LIMIT)
    })?;
    let mut tally = Tally::default();
    for ((name, _), ended) in programs.iter().zip(ends) {
        let passed = ended.status.is_some_and(|status| status.success());
        println!("{name}: {}", ["FAILED", "ok"][usize::from(passed)]);
        print!("{}", if passed { "" } else { &*ended.output });
        tally += Tally::of(passed);
    }
    Ok(tally)
}
