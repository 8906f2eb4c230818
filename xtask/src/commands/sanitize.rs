//! `cargo xtask sanitize`: the tests of the crates on real threads, watched by a sanitizer.

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::support::error::Result;
use crate::support::metadata::Workspace;
use crate::support::process::{other_toolchain, root, target_directory};
use crate::support::stages::Stages;
use crate::support::tally::tests;

/// Sanitizers need an explicit target, if only this machine's: without one, build scripts would be
/// instrumented too.
fn target() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

const NIGHTLY: &str = "nightly";

#[derive(Args)]
pub(crate) struct Options {
    sanitizer: Sanitizer,
}

#[derive(Clone, Copy, ValueEnum)]
enum Sanitizer {
    /// Data races in the code as shipped.
    Thread,
    /// Use after free, and leaks.
    Address,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if other_toolchain(NIGHTLY).is_none() {
        return Err(
            "sanitizers need a nightly toolchain: `rustup toolchain install nightly`".into(),
        );
    }
    let workspace = Workspace::read()?;
    let mut stages = Stages::default();
    options.sanitizer.add_stage(&workspace, &mut stages);
    Ok(stages.summary())
}

/// Adds CI's part: AddressSanitizer, which has no false alarms, where there is a nightly
/// toolchain.
pub(crate) fn add_ci_stage(workspace: &Workspace, stages: &mut Stages) {
    if other_toolchain(NIGHTLY).is_some() {
        Sanitizer::Address.add_stage(workspace, stages);
    } else {
        stages.skip("AddressSanitizer", "nightly toolchain");
    }
}

impl Sanitizer {
    fn add_stage(self, workspace: &Workspace, stages: &mut Stages) {
        let (name, flags) = match self {
            Self::Thread => (
                "ThreadSanitizer",
                "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer --cfg filch_tsan",
            ),
            Self::Address => ("AddressSanitizer", "-Zsanitizer=address"),
        };
        let suppressions = root().join("xtask/tsan-suppressions.txt");
        let suppressions = format!("suppressions={}", suppressions.display());
        let mut command = other_toolchain(NIGHTLY).expect("the callers have asked");
        command
            .args(["test", "--no-fail-fast", "--lib", "--tests"])
            .args(["--target", &target()])
            .env("RUSTFLAGS", flags)
            .env("TSAN_OPTIONS", suppressions)
            .env("CARGO_TARGET_DIR", target_directory(name));
        let packages = workspace.reachable_from("filch");
        for package in packages.into_iter().chain(["linearizability"]) {
            command.args(["--package", package]);
        }
        // What is resident under a sanitizer is its own allocator's doing; and its frames are
        // larger than what a pool keeps of a stack to say that it is full.
        command.args(["--", "--skip", "bytes_resident"]);
        command.args(["--skip", "a_stack_that_is_full"]);
        // They bound the address space, of which the sanitizer takes most.
        command.args(["--skip", "refused::calls_come_back_without_a_substitute"]);
        command.args([
            "--skip",
            "refused::the_threads_that_there_are_do_all_the_work",
        ]);
        stages.run(name, || tests(&mut command));
    }
}
