//! `cargo xtask arm`: the tests of the libraries on Arm, which qemu emulates, and on 32-bit x86.
//!
//! The memory is this machine's, no weaker than it is: orderings are for models and kernels.

use std::process::ExitCode;

use clap::Args;

use crate::commands::ci::is_installed;
use crate::commands::sanitize;
use crate::support::Result;
use crate::support::process::{cargo_in, runs};
use crate::support::stages::Stages;
use crate::support::tally::tests;

#[derive(Args)]
pub(crate) struct Options {
    /// One target alone, by its name for rustc.
    #[arg(long)]
    target: Option<String>,
}

/// Tests that start their own program again, which qemu does not do.
const SKIPPED: &str = "a_source_that_panics a_stack_that_is_full a_wild_read bytes_resident \
    later_overflow overflows_ refused::calls_come_back refused::the_threads_that_there_are";

/// The tests of the libraries below one, on a target.
struct Run {
    below: &'static str,
    target: &'static str,
    /// The target, as Debian's tools call it. Its first word is the emulator's, too.
    system: &'static str,
    /// The processor that is emulated; `None`: this one runs the programs.
    cpu: Option<&'static str>,
    flags: &'static str,
}

/// On `cortex-a72`, an atomic operation is a call, and a loop around a load and a store that belong
/// together. `max` has instructions for it (LSE), which LLVM then uses in place.
#[rustfmt::skip]
const RUNS: [Run; 4] = [
    Run { below: "filch", target: AARCH64, system: "aarch64-linux-gnu", cpu: A72, flags: "" },
    Run { below: PRIMITIVES, target: AARCH64, system: "aarch64-linux-gnu", cpu: MAX, flags: LSE },
    Run { below: PRIMITIVES, target: ARMV7, system: "arm-linux-gnueabihf", cpu: MAX, flags: "" },
    Run { below: PRIMITIVES, target: I686, system: "i686-linux-gnu", cpu: None, flags: "" },
];

const PRIMITIVES: &str = "filch-processors";
const AARCH64: &str = "aarch64-unknown-linux-gnu";
const ARMV7: &str = "armv7-unknown-linux-gnueabihf";
const I686: &str = "i686-unknown-linux-gnu";
const A72: Option<&str> = Some("cortex-a72");
const MAX: Option<&str> = Some("max");
const LSE: &str = "-Ctarget-feature=+lse";

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let (mut stages, only) = (Stages::default(), options.target.as_deref());
    for run in RUNS {
        if only.is_none_or(|only| only == run.target) {
            add_stage(run, &mut stages)?;
        }
    }
    Ok(stages.summary())
}

fn add_stage(run: Run, stages: &mut Stages) -> Result<()> {
    let (below, target, system) = (run.below, run.target, run.system);
    let emulated = run.cpu.unwrap_or_default();
    let name = format!("libraries below {below}, {target} {emulated}");
    let linker = format!("{system}-gcc");
    let word = system.split('-').next().unwrap_or_default();
    let emulator = run.cpu.map(|_| format!("qemu-{word}"));
    let mut programs = emulator.iter().chain([&linker]);
    if !is_installed(target) || !programs.all(|program| runs(program, "--version")) {
        let packages = format!("apt-get install gcc-{system} qemu-user");
        let target = format!("rustup target add {target}");
        let lacks = format!("compiler or emulator: `{target}`, `{packages}`");
        stages.skip(&name, &lacks);
        return Ok(());
    }
    let mut cargo = cargo_in("arm");
    let variable = format!("CARGO_TARGET_{}", target.to_uppercase().replace('-', "_"));
    cargo.env(format!("{variable}_LINKER"), &linker);
    // What the linker's package brings is below /usr/SYSTEM.
    let runner = match &emulator {
        None => format!("/usr/{system}/lib/ld-linux.so.2 --library-path /usr/{system}/lib"),
        Some(emulator) => format!("{emulator} -L /usr/{system}"),
    };
    cargo.env(format!("{variable}_RUNNER"), runner);
    cargo.env("QEMU_CPU", emulated).env("RUSTFLAGS", run.flags);
    // Optimised, as LLVM would compile it for use, with every assertion.
    cargo.args(["test", "--profile", "loom", "--no-fail-fast"]);
    cargo.args(["--lib", "--tests", "--target", target]);
    let mut packages = sanitize::packages(below)?;
    packages.push("linearizability".to_owned());
    cargo.args(packages.iter().flat_map(|name| ["--package", name]));
    cargo.arg("--");
    cargo.args(SKIPPED.split(' ').flat_map(|test| ["--skip", test]));
    stages
        .remarks
        .push(format!("{target}: left out are {SKIPPED}"));
    stages.run(name, || tests(&mut cargo));
    Ok(())
}
