//! `cargo xtask sanitize`: the tests of the crates on real threads, watched by a sanitizer.

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::commands::lint;
use crate::support::Result;
use crate::support::process::{of_toolchain, target_directory};
use crate::support::stages::Stages;
use crate::support::tally::tests;

#[derive(Args)]
pub(crate) struct Options {
    sanitizer: Sanitizer,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Sanitizer {
    /// Data races in the code as shipped.
    Thread,
    /// Use after free, and leaks.
    Address,
    /// Undefined behaviour of any kind, of the primitives: an interpreter.
    Miri,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let mut stages = Stages::default();
    add_stage(options.sanitizer, &mut stages)?;
    Ok(stages.summary())
}

/// Tests that are left out: what is resident under a sanitizer is its own allocator's doing; its
/// frames are larger than small stacks, and than what a pool keeps of one to say that it is full;
/// and it takes most of the address space, which the last two bound.
const SKIPPED: [&str; 5] = [
    "bytes_resident",
    "a_stack_that_is_full",
    "of_64_kib",
    "refused::calls_come_back_without_a_substitute",
    "refused::the_threads_that_there_are_do_all_the_work",
];

/// ThreadSanitizer's threads have no stack for a handler of signals.
const SKIPPED_BY_THREAD: [&str; 3] = ["overflows_", "no_overflow", "later_overflow"];

/// The crates below this one whose tests are watched.
pub(crate) fn packages(below: &str) -> Result<Vec<String>> {
    let mut packages = lint::below(below)?;
    packages.retain(|package| !["filch-metrics", "filch-testing"].contains(&&**package));
    Ok(packages)
}

pub(crate) fn add_stage(sanitizer: Sanitizer, stages: &mut Stages) -> Result<()> {
    let (name, cargo, also_skipped): (_, _, &[&str]) = match sanitizer {
        Sanitizer::Thread => ("ThreadSanitizer", "xtask/tsan/cargo.sh", &SKIPPED_BY_THREAD),
        Sanitizer::Address => ("AddressSanitizer", "cargo", &[]),
        Sanitizer::Miri => return add_miri(stages),
    };
    let Some(mut command) = of_toolchain("nightly", cargo) else {
        stages.skip(name, "nightly toolchain");
        return Ok(());
    };
    // For cargo itself; the script sets its own.
    command.env("RUSTFLAGS", "-Zsanitizer=address");
    command.env("CARGO_TARGET_DIR", target_directory(name));
    command.args(["test", "--no-fail-fast", "--lib", "--tests"]);
    // Sanitizers need an explicit target, if only this machine's: without one, build scripts would
    // be instrumented too.
    command.args(["--target", "host-tuple", "--package", "linearizability"]);
    for package in packages("filch")? {
        command.args(["--package", &package]);
    }
    command.arg("--");
    let skipped = SKIPPED.iter().chain(also_skipped);
    command.args(skipped.flat_map(|test| ["--skip", test]));
    stages.run(name, || tests(&mut command));
    Ok(())
}

/// Adds a stage for each primitive, whose tests know `cfg(miri)`; one has three million steps. Weak
/// exchanges do not fail by chance: a queue would answer that by pauses, and blocks more.
fn add_miri(stages: &mut Stages) -> Result<()> {
    let has_miri = of_toolchain("nightly", "cargo").is_some_and(|mut probe| {
        let output = probe.args(["miri", "--version"]).output();
        output.is_ok_and(|output| output.status.success())
    });
    for package in lint::primitives()? {
        let name = format!("Miri, {package}");
        let cargo = of_toolchain("nightly", "cargo").filter(|_| has_miri);
        let Some(mut command) = cargo else {
            stages.skip(&name, "Miri of a nightly toolchain");
            continue;
        };
        command.env("CARGO_TARGET_DIR", target_directory("miri"));
        let flags = "-Zmiri-disable-isolation -Zmiri-compare-exchange-weak-failure-rate=0";
        command.env("MIRIFLAGS", flags);
        command.env("PROPTEST_CASES", "4");
        command.args(["miri", "test", "--no-fail-fast", "--lib", "--tests"]);
        command.args(["--package", &package, "--", "--skip", "budget::"]);
        stages.run(name, || tests(&mut command));
    }
    Ok(())
}
