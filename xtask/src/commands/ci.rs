//! `cargo xtask ci`: what a change must pass before it is merged.
//!
//! In two halves, by two processes at a time: much of each is waited for by one core alone, be it a
//! test that waits or the last crate of a build.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::commands::sanitize::{self, Sanitizer};
use crate::commands::{book, lint, ordered, package, rayon, road, test, weigh};
use crate::support::Result;
use crate::support::metadata::Workspace;
use crate::support::process::{BESIDE, cargo_in, of_toolchain, run_within, runs, target_directory};
use crate::support::stages::Stages;
use crate::support::tally::Tally;

#[derive(Args)]
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

/// Primitives that need threads, and so std.
const WITH_STD: [&str; 3] = ["filch-parker", "filch-timers", "filch-blocking"];

/// Primitives that have to build without 64-bit atomics, too.
const NARROW: [&str; 4] = [
    "filch-process-state",
    "filch-parker",
    "filch-event-queue",
    "filch-data-cell",
];

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let workspace = Workspace::read("")?;
    let mut stages = Stages::default();
    match options.half {
        Some(Half::Code) => {
            add_code(&workspace, &mut stages)?;
            add_beside(&mut stages);
        }
        Some(Half::Checkers) => add_checkers(&mut stages)?,
        None => {
            let program = std::env::current_exe()?;
            let checkers = thread::spawn(move || {
                let mut command = Command::new(program);
                run_within(command.args(["ci", "--half", "checkers"]), LIMIT)
                    .map_err(|error| error.to_string())
            });
            add_code(&workspace, &mut stages)?;
            let mut core = stages.elapsed;
            add_beside(&mut stages);
            stages.run("the other half, which ran meanwhile", || {
                let ended = checkers.join().expect("it does not panic")?;
                print!("{}", ended.output);
                core = core.max(ended.elapsed);
                let status = ended.status.ok_or("it was killed at its limit")?;
                Ok(Tally::of(status.success()))
            });
            let [all, core] = [stages.elapsed, core].map(|of| of.as_secs());
            let remark =
                format!("{core} s of {all} until all but apps and benches/rivals was done");
            stages.remarks.push(remark);
        }
    }
    Ok(stages.summary())
}

/// Checks by cargo. clippy lints the members that the checkers' packages depend on as well.
const CHECKS: &str = "
clippy | | clippy --workspace --all-targets
clippy, of features | | clippy -p filch-scheduler -p filch-actors --all-features --all-targets
clippy, of the facade without its features | | clippy -p filch --no-default-features --lib
clippy, as loom sees it | loom | clippy -p loom-tests -p filch-models --all-targets
clippy, as shuttle sees it | shuttle | clippy -p shuttle-tests -p filch-testing --all-targets
the facade, beside somebody else's models | loom | test -p filch --test one_pool
documentation | | doc --workspace --no-deps --exclude loom-tests --exclude shuttle-tests
documentation, of private items too | private | doc --workspace --no-deps --exclude loom-tests \
    --exclude shuttle-tests --document-private-items
documentation of the models' harness | loom | doc -p filch-models --no-deps
documentation of the schedules' harness | shuttle | doc -p shuttle-tests --no-deps
";

/// Half a minute of the soak for each of two seeds, and not of a seed of the day: a change is not
/// to fail by what another one did. Built where the rest of the tree is not, which is compiled
/// meanwhile.
const SOAK: &str = "
the soak, seed 14 | optimised | run -q --profile loom -p soak -- --seconds 30 --seed 14
the soak, seed 1 | optimised | run -q --profile loom -p soak -- --seconds 30 --seed 1
";

fn add_code(workspace: &Workspace, stages: &mut Stages) -> Result<()> {
    // The quick ones first: what is wrong with the form of a change is known within a minute.
    stages.add("format | | fmt --all --check");
    stages.run("house rules", lint::check);
    stages.run("weight", || weigh::report(&BTreeMap::new()));
    stages.add(CHECKS);
    package::add_stages(workspace, stages);
    test::add_ci_stages(workspace, stages);
    add_builds(workspace, stages)?;
    stages.add("the scheduler's features | | test -p filch-actors --all-features --test features");
    Ok(())
}

fn add_beside(stages: &mut Stages) {
    for beside in BESIDE {
        stages.add(&format!(
            "{beside}: format | {beside} | fmt --all --check
             {beside}: clippy | {beside} | clippy --workspace --all-targets
             {beside}: documentation | {beside} | doc --workspace --no-deps"
        ));
        test::add_tests(beside, &[], stages);
    }
}

fn add_checkers(stages: &mut Stages) -> Result<()> {
    test::add_models("most", stages);
    // It has no false alarms.
    sanitize::add_stage(Sanitizer::Address, stages)?;
    rayon::add_ci_stages(stages);
    stages.run("the book", book::check);
    stages.add(SOAK);
    let title = "instructions that order memory, on Arm";
    if is_installed(ordered::TARGET) {
        stages.run(title, ordered::check);
    } else {
        stages.skip(title, ordered::TARGET);
    }
    add_instruction_counts(stages);
    Ok(())
}

/// Builds for other targets and by the oldest toolchain, as far as they are installed.
fn add_builds(workspace: &Workspace, stages: &mut Stages) -> Result<()> {
    let mut without_std = lint::primitives()?;
    without_std.retain(|name| !WITH_STD.contains(&&**name));
    let without_std = without_std.join(" -p ");
    let narrow = NARROW.join(" -p ");
    let libraries = workspace.published().map(|package| &*package.name);
    let libraries: Vec<_> = libraries.filter(|name| *name != "filch-cli").collect();
    let libraries = libraries.join(" -p ");
    for (target, packages) in [
        ("x86_64-unknown-none", &without_std),
        ("thumbv7em-none-eabihf", &narrow),
        ("riscv32imac-unknown-none-elf", &narrow),
        ("powerpc-unknown-linux-gnu", &narrow),
        ("x86_64-pc-windows-gnu", &libraries),
        ("aarch64-apple-darwin", &libraries),
        ("aarch64-unknown-linux-gnu", &libraries),
        ("i686-unknown-linux-gnu", &libraries),
        ("armv7-unknown-linux-gnueabihf", &libraries),
    ] {
        let name = format!("libraries, on {target}");
        if is_installed(target) {
            let check = format!("check --lib --target {target} -p {packages}");
            stages.add(&format!("{name} | | {check}"));
        } else {
            stages.skip(&name, target);
        }
    }
    let packages = || workspace.published();
    let oldest = packages().filter_map(|package| package.rust_version.as_deref());
    const OLDEST: &str = "the oldest toolchain that is promised";
    if let Some(mut check) = of_toolchain(oldest.max().unwrap_or_default(), "cargo") {
        check.env("CARGO_TARGET_DIR", target_directory("oldest"));
        check.arg("check");
        check.args(packages().flat_map(|package| ["--package", &package.name]));
        stages.check(OLDEST, &mut check);
    } else {
        stages.skip(OLDEST, "rustup with that toolchain");
    }
    Ok(())
}

/// Compares the instructions that filch's operations take with their bars, and the files that they
/// go through with the page of the roads; both are about x86-64.
fn add_instruction_counts(stages: &mut Stages) {
    if std::env::consts::ARCH != "x86_64" {
        return;
    }
    if !runs("valgrind", "--version") {
        return stages.skip("instruction counts, and roads", "valgrind");
    }
    // The other half compiles in the usual place meanwhile.
    let count = "bench -p filch-operations --bench instructions -- --check";
    stages.add(&format!("instruction counts | optimised | {count}"));
    stages.run("roads", || road::check(cargo_in("optimised")));
}

/// True if builds for `target` are possible here. Where they are not, `house rules` still refuses a
/// primitive without `#![no_std]`.
pub(crate) fn is_installed(target: &str) -> bool {
    let mut probe = Command::new("rustc");
    probe.args(["--print", "target-libdir", "--target", target]);
    let folder = probe.output().map(|output| output.stdout);
    folder.is_ok_and(|folder| Path::new(String::from_utf8_lossy(&folder).trim()).is_dir())
}
