//! `cargo xtask sanitize`: the tests of the crates on real threads, watched by a sanitizer.

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::commands::lint;
use crate::support::Result;
use crate::support::process::{other_toolchain, root, target_directory};
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
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let mut stages = Stages::default();
    add_stage(options.sanitizer, &mut stages)?;
    Ok(stages.summary())
}

/// Tests that are left out: what is resident under a sanitizer is its own allocator's doing; its
/// frames are larger than what a pool keeps of a stack to say that it is full; and it takes most of
/// the address space, which the last two bound.
const SKIPPED: [&str; 4] = [
    "bytes_resident",
    "a_stack_that_is_full",
    "refused::calls_come_back_without_a_substitute",
    "refused::the_threads_that_there_are_do_all_the_work",
];

pub(crate) fn add_stage(sanitizer: Sanitizer, stages: &mut Stages) -> Result<()> {
    let (name, flags) = match sanitizer {
        Sanitizer::Thread => (
            "ThreadSanitizer",
            "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer --cfg filch_tsan",
        ),
        Sanitizer::Address => ("AddressSanitizer", "-Zsanitizer=address"),
    };
    let Some(mut command) = other_toolchain("nightly") else {
        stages.skip(name, "nightly toolchain");
        return Ok(());
    };
    let suppressions = root().join("xtask/tsan-suppressions.txt");
    let suppressions = format!("suppressions={}", suppressions.display());
    command.env("RUSTFLAGS", flags);
    command.env("TSAN_OPTIONS", suppressions);
    command.env("CARGO_TARGET_DIR", target_directory(name));
    command.args(["test", "--no-fail-fast", "--lib", "--tests"]);
    // Sanitizers need an explicit target, if only this machine's: without one, build scripts would
    // be instrumented too.
    command.args(["--target", "host-tuple", "--package", "linearizability"]);
    for package in lint::below("filch")? {
        if !["filch-metrics", "filch-testing"].contains(&&*package) {
            command.args(["--package", &package]);
        }
    }
    command.arg("--");
    command.args(SKIPPED.iter().flat_map(|test| ["--skip", test]));
    stages.run(name, || tests(&mut command));
    Ok(())
}
