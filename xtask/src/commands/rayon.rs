//! `cargo xtask rayon`: the tests of the published rayon, and ours, on our rayon-core.

mod core_tests;
pub(crate) mod programs;
mod sources;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::support::error::Result;
use crate::support::process::{cargo, root, target_directory, tee};
use crate::support::stages::Stages;
use crate::support::tally::{Tally, libtest_skipped, tests_tally};

use super::refused::Errno;
use sources::{Count, Package, Sources};

/// The newest version that asks for the rayon-core that ours stands for.
const RAYON: Package = Package {
    name: "rayon",
    version: "1.12.0",
    tests: Count::of(332, 1),
    examples: Count::of(246, 0),
};

/// Rayon's core, of which the tests that use the public interface are run, and the examples of its
/// documentation.
const CORE: Package = Package {
    name: "rayon-core",
    version: "1.13.0",
    tests: Count::of(108, 2),
    examples: Count::of(27, 0),
};

/// Our programs on rayon, and the tests of those whose items block.
const PROGRAMS: Package = Package {
    name: "on-rayon",
    version: "0.1.0",
    tests: Count::of(21, 0),
    examples: Count::of(0, 0),
};

pub(crate) fn run() -> Result<ExitCode> {
    let mut stages = Stages::default();
    add_stages(true, &mut stages);
    Ok(stages.summary())
}

/// The tests, for CI. Each of the examples is a program to link, two minutes in all.
pub(crate) fn add_ci_stages(stages: &mut Stages) {
    add_stages(false, stages);
    if cfg!(target_os = "linux") {
        for errno in [Errno::Eperm, Errno::Enosys] {
            add_programs(Some(errno), stages);
        }
    }
}

fn add_stages(with_examples: bool, stages: &mut Stages) {
    let name = "rayon's own tests";
    stages.run(name, || {
        let sources = Sources::fetch(&place(), &[RAYON, CORE])?;
        let copy = sources.copy(RAYON, &place().join("ours"))?;
        sources::append(&copy.join("Cargo.toml"), &patch())?;
        test(&copy, RAYON, with_examples, None)
    });
    let name = "rayon-core's own tests of what is public";
    stages.run(name, || {
        let sources = Sources::fetch(&place(), &[RAYON, CORE])?;
        let package = place().join("ours/rayon-core-tests");
        core_tests::make(sources.of(CORE)?, &package)?;
        sources::append(&package.join("Cargo.toml"), &patch())?;
        test(&package, CORE, with_examples, None)
    });
    add_programs(None, stages);
}

/// The programs; where there is an error, in a process to which the kernel refuses heavy fences by
/// that.
fn add_programs(refused: Option<Errno>, stages: &mut Stages) {
    let remark = match refused {
        None => "",
        Some(Errno::Eperm) => ", heavy fences refused",
        Some(Errno::Enosys) => ", heavy fences unknown",
    };
    stages.run(
        format!("programs on rayon whose items block{remark}"),
        || {
            let package = place().join("ours").join(PROGRAMS.name);
            programs::copy(&package, true)?;
            test(&package, PROGRAMS, false, refused)
        },
    );
}

/// Returns the folder where all of it is made.
fn place() -> PathBuf {
    target_directory("rayon")
}

/// The lines that a manifest needs besides.
fn patch() -> String {
    let path = root().join("compat/rayon-core");
    let path = path.display();
    format!("\n[workspace]\n\n[patch.crates-io]\nrayon-core = {{ path = \"{path}\" }}\n")
}

/// Runs the tests of the package in that folder, all of them; and the examples, if wanted.
fn test(
    folder: &Path,
    package: Package,
    with_examples: bool,
    refused: Option<Errno>,
) -> Result<Tally> {
    let cargo = || {
        let mut command = cargo();
        command
            .current_dir(folder)
            .env("CARGO_TARGET_DIR", place().join("target"))
            .env_remove("RAYON_NUM_THREADS");
        command
    };
    if sources::is_from_registry(cargo(), CORE)? {
        return Err("cargo takes another rayon-core than ours".into());
    }
    let mut tests = cargo();
    tests.args(["test", "--no-fail-fast"]);
    let wanted = if with_examples {
        package.tests + package.examples
    } else {
        tests.args(["--lib", "--tests"]);
        package.tests
    };
    if let Some(errno) = refused {
        tests = errno.refusing(&tests)?;
    }
    let (status, output) = tee(&mut tests)?;
    let mut tally = tests_tally(&output);
    let [ignored, left_out] = ["ignored", "filtered out"].map(|how| libtest_skipped(&output, how));
    let is_all = tally.passed >= wanted.run && ignored == wanted.ignored && left_out == 0;
    if !status.success() || !is_all {
        let (name, run, own) = (package.name, wanted.run, wanted.ignored);
        println!(
            "error: {name} has {run} tests and ignores {own}; {tally}, {ignored} ignored, \
             {left_out} filtered out"
        );
        tally.failed = tally.failed.max(1);
    }
    Ok(tally)
}
