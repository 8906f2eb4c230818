//! `cargo xtask ci`: what a change must pass before it is merged.
//!
//! In two halves, by two processes at a time: much of each is waited for by one core alone, be it a
//! test that waits or the last crate of a build.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::commands::beside::Beside;
use crate::commands::{book, lint, package, rayon, road, sanitize, soak, test, weigh};
use crate::support::error::Result;
use crate::support::metadata::Workspace;
use crate::support::process::{
    Tree, cargo, cargo_with_cfg, other_toolchain, run_within, runs, target_directory,
};
use crate::support::stages::Stages;
use crate::support::tally::{closing_tally, tests};

#[derive(Args, Default)]
pub(crate) struct Options {
    /// One half alone.
    #[arg(long)]
    half: Option<Half>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Half {
    /// The part that is built where `cargo build` builds: form, packages, tests, documentation.
    Code,
    /// The part that has builds of its own: models, schedules, sanitizer, the tests of rayon, the
    /// book.
    Checkers,
}

/// A half that runs for longer has hung.
const LIMIT: Duration = Duration::from_secs(2 * 3600);

/// A target that has no std, and 64-bit atomics.
const TARGET_WITHOUT_STD: &str = "x86_64-unknown-none";

/// Targets without 64-bit atomics on which the [`NARROW`] primitives can be tried.
const NARROW_TARGETS: &[&str] = &[
    "thumbv7em-none-eabihf",
    "riscv32imac-unknown-none-elf",
    "powerpc-unknown-linux-gnu",
];

/// The primitives that have to build there.
const NARROW: &[&str] = &[
    "filch-process-state",
    "filch-parker",
    "filch-event-queue",
    "filch-data-cell",
];

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let workspace = Workspace::read()?;
    let mut stages = Stages::default();
    match options.half {
        Some(Half::Code) => add_code(&workspace, &mut stages),
        Some(Half::Checkers) => add_checkers(&workspace, &mut stages),
        None => {
            let program = std::env::current_exe()?;
            let checkers = thread::spawn(move || {
                let mut command = Command::new(program);
                run_within(command.args(["ci", "--half", "checkers"]), LIMIT)
                    .map_err(|error| error.to_string())
            });
            add_code(&workspace, &mut stages);
            stages.run("the other half, which ran meanwhile", || {
                let ended = checkers.join().expect("it does not panic")?;
                print!("{}", ended.output);
                let status = ended.status.ok_or("it was killed at its limit")?;
                Ok(closing_tally(status, &ended.output))
            });
        }
    }
    Ok(stages.summary())
}

/// Checks by cargo: the stage, the configuration by which a checker sees the code, and the command
/// line. clippy lints the members that the checkers' packages depend on as well.
const CHECKS: &str = "
clippy | | clippy --workspace --all-targets
clippy, of features | | clippy -p filch-scheduler -p filch-actors --all-features --all-targets
clippy, of the facade without its features | | clippy -p filch --no-default-features --lib
clippy, as loom sees it | loom | clippy -p loom-tests --all-targets
clippy, as shuttle sees it | shuttle | clippy -p shuttle-tests -p filch-testing --all-targets
the facade, beside somebody else's models | loom | check -p filch
documentation | | doc --workspace --no-deps --exclude loom-tests --exclude shuttle-tests
documentation of the models' harness | loom | doc -p loom-tests --no-deps
documentation of the schedules' harness | shuttle | doc -p shuttle-tests --no-deps
";

fn add_code(workspace: &Workspace, stages: &mut Stages) {
    // The quick ones first: what is wrong with the form of a change is known within a minute.
    stages.check("format", cargo().args(["fmt", "--all", "--check"]));
    stages.run("house rules", || lint::check(workspace));
    stages.run("weight", weigh::check);
    for check in CHECKS.trim().lines() {
        let fields: Vec<_> = check.split('|').map(str::trim).collect();
        let (mut cargo, mut flags) = (cargo(), "-D warnings".to_owned());
        if !fields[1].is_empty() {
            cargo = cargo_with_cfg(fields[1]);
            flags += &format!(" --cfg {}", fields[1]);
        }
        cargo.env("RUSTDOCFLAGS", flags);
        cargo.args(fields[2].split(' '));
        if fields[2].starts_with("clippy") {
            cargo.args(["--", "-D", "warnings"]);
        }
        stages.check(fields[0], &mut cargo);
    }
    package::add_stages(workspace, stages);
    test::add_ci_stages(workspace, stages);
    add_builds(workspace, stages);
    let mut test = cargo();
    test.args(["test", "-p", "filch-actors", "--all-features"]);
    test.args(["--test", "features"]);
    stages.run("the scheduler's features", || tests(&mut test));
    for beside in Beside::ALL {
        beside.add_checks(stages);
        beside.add_tests(stages);
    }
}

fn add_checkers(workspace: &Workspace, stages: &mut Stages) {
    test::add_models(stages);
    sanitize::add_ci_stage(workspace, stages);
    rayon::add_ci_stages(stages);
    stages.run("the book, and its links", book::check);
    stages.run("a minute of the soak", soak::for_ci);
    add_instruction_counts(stages);
}

/// Builds for other targets and by the oldest toolchain, as far as they are installed.
fn add_builds(workspace: &Workspace, stages: &mut Stages) {
    check_for(
        TARGET_WITHOUT_STD,
        &lint::primitives_without_std(),
        "primitives, on a target without std",
        stages,
    );
    for target in NARROW_TARGETS {
        check_for(target, NARROW, "primitives, without 64-bit atomics", stages);
    }
    let oldest = workspace
        .published()
        .map(|(_, member)| &member.rust_version);
    let oldest = oldest.max().map_or("", String::as_str);
    const OLDEST: &str = "the oldest toolchain that is promised";
    if let Some(mut check) = other_toolchain(oldest) {
        check.arg("check");
        for (name, _) in workspace.published() {
            check.args(["--package", name]);
        }
        check.env("CARGO_TARGET_DIR", target_directory("oldest"));
        stages.check(OLDEST, &mut check);
    } else {
        stages.skip(OLDEST, "rustup with that toolchain");
    }
}

fn check_for(target: &'static str, packages: &[&str], stage: &'static str, stages: &mut Stages) {
    if !is_installed(target) {
        return stages.skip(stage, target);
    }
    let mut check = cargo();
    check.args(["check", "--lib", "--target", target]);
    for package in packages {
        check.args(["--package", package]);
    }
    stages.check(stage, &mut check);
}

/// Compares the instructions that filch's operations take with their bars, and the files that they
/// go through with the page of the roads; both are about x86-64.
fn add_instruction_counts(stages: &mut Stages) {
    if std::env::consts::ARCH != "x86_64" {
        return;
    }
    const NAMES: [&str; 2] = ["instruction counts", "roads"];
    if !runs("valgrind", "--version") {
        return NAMES.iter().for_each(|name| stages.skip(name, "valgrind"));
    }
    // The other half compiles in the usual place meanwhile.
    let cargo = || Tree::here("optimised").cargo();
    let mut count = cargo();
    count.args(["bench", "--package", "filch-operations"]);
    count.args(["--bench", "instructions", "--", "--check"]);
    stages.check(NAMES[0], &mut count);
    stages.run(NAMES[1], || road::check(cargo()));
}

/// True if builds for `target` are possible here. Where they are not, `house rules` still refuses a
/// primitive without `#![no_std]`.
fn is_installed(target: &str) -> bool {
    let mut probe = Command::new("rustc");
    probe
        .args(["--print", "target-libdir", "--target", target])
        .stderr(Stdio::null());
    let Ok(output) = probe.output() else {
        return false;
    };
    let directory = String::from_utf8_lossy(&output.stdout).into_owned();
    Path::new(directory.trim()).is_dir()
}
