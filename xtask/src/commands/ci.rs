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
use crate::commands::{book, lint, package, rayon, sanitize, soak, test};
use crate::support::error::Result;
use crate::support::metadata::Workspace;
use crate::support::process::{
    cargo, cargo_with_cfg, other_toolchain, run_within, target_directory,
};
use crate::support::stages::Stages;
use crate::support::tally::{closing_tally, libtest};

#[derive(Args, Default)]
pub(crate) struct Options {
    /// One half alone.
    #[arg(long)]
    half: Option<Half>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Half {
    /// What is built where `cargo build` builds: form, packages, tests, documentation.
    Code,
    /// What has builds of its own: models, schedules, sanitizer, the tests of rayon, the book.
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

/// What has to build there.
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

fn add_code(workspace: &Workspace, stages: &mut Stages) {
    // The quick ones first: what is wrong with the form of a change is known within a minute.
    stages.check("format", cargo().args(["fmt", "--all", "--check"]));
    stages.run("house rules", || lint::check(workspace));
    add_clippy(stages);
    package::add_stages(workspace, stages);
    test::add_ci_stages(workspace, stages);
    add_builds(workspace, stages);
    add_documentation(stages);
    add_features(stages);
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

/// The whole workspace, and the checkers' packages as they see the code: clippy lints the members
/// that they depend on as well.
fn add_clippy(stages: &mut Stages) {
    let passes = [
        ("clippy", cargo(), ["--workspace"].as_slice()),
        (
            "clippy, of the scheduler with its features",
            cargo(),
            &["--package", "filch-scheduler", "--all-features"],
        ),
        (
            "clippy, as loom sees the code",
            cargo_with_cfg("loom"),
            &["--package", "loom-tests"],
        ),
        (
            "clippy, as shuttle sees the code",
            cargo_with_cfg("shuttle"),
            &["--package", "shuttle-tests", "--package", "filch-testing"],
        ),
    ];
    for (stage, mut clippy, packages) in passes {
        clippy.arg("clippy").args(packages);
        clippy.args(["--all-targets", "--", "-D", "warnings"]);
        stages.check(stage, &mut clippy);
    }
}

/// Builds for other targets and by the oldest toolchain, as far as they are installed.
fn add_builds(workspace: &Workspace, stages: &mut Stages) {
    check_for(
        TARGET_WITHOUT_STD,
        lint::PRIMITIVES_WITHOUT_STD,
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

fn add_documentation(stages: &mut Stages) {
    let checkers = [("loom-tests", "loom"), ("shuttle-tests", "shuttle")];
    let mut docs = cargo();
    docs.args(["doc", "--workspace", "--no-deps"]);
    for (package, _) in checkers {
        docs.args(["--exclude", package]);
    }
    docs.env("RUSTDOCFLAGS", "-D warnings");
    stages.check("documentation", &mut docs);
    // The harnesses exist in builds of their own only.
    for (package, name) in checkers {
        let mut docs = cargo_with_cfg(name);
        docs.args(["doc", "--package", package, "--no-deps"])
            .env("RUSTDOCFLAGS", format!("--cfg {name} -D warnings"));
        stages.check("documentation of a harness", &mut docs);
    }
}

/// Tests the features that no default build has, and the facade without any.
fn add_features(stages: &mut Stages) {
    let mut bare = cargo();
    bare.args(["clippy", "--package", "filch", "--no-default-features"]);
    bare.args(["--lib", "--", "-D", "warnings"]);
    stages.check("the facade without its features", &mut bare);
    let mut foreign = cargo_with_cfg("loom");
    foreign.args(["check", "--package", "filch"]);
    stages.check("the facade, beside somebody else's models", &mut foreign);
    let mut test = cargo();
    test.args(["test", "--package", "filch-scheduler", "--all-features"]);
    test.args(["--test", "features"]);
    stages.run("the scheduler's features", || libtest(&mut test));
}

/// Compares the instructions that filch's operations take with their bars, which are about x86-64,
/// where there is valgrind.
fn add_instruction_counts(stages: &mut Stages) {
    if std::env::consts::ARCH != "x86_64" {
        return;
    }
    const NAME: &str = "instruction counts";
    if runs("valgrind", "--version") {
        let mut count = cargo();
        count.args(["bench", "--package", "filch-operations"]);
        count.args(["--bench", "instructions", "--", "--check"]);
        // The other half compiles in the usual place meanwhile.
        count.env("CARGO_TARGET_DIR", target_directory("optimised"));
        stages.check(NAME, &mut count);
    } else {
        stages.skip(NAME, "valgrind");
    }
}

/// Whether a program is installed, which ends well with that argument.
fn runs(program: &str, argument: &str) -> bool {
    let mut probe = Command::new(program);
    probe
        .arg(argument)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// Whether builds for `target` are possible here. Where they are not, `house rules` still refuses a
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
