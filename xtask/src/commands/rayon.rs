//! `cargo xtask rayon`: the tests of the published rayon, and ours, on our rayon-core.

mod core_tests;
pub(crate) mod programs;
mod sources;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;

use crate::support::error::Result;
use crate::support::process::{cargo, root, target_directory, tee};
use crate::support::stages::Stages;
use crate::support::tally::{Tally, libtest_skipped, tests_tally};

use super::refused::Errno;
use sources::{Count, Package, Sources};

/// What is run: the newest version that asks for the rayon-core that ours stands for.
const RAYON: Package = Package {
    name: "rayon",
    version: "1.12.0",
    tests: Count::of(332, 1),
    examples: Count::of(246, 0),
};

/// Its core, of which the tests that use the public interface are run, and the examples of its
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

#[derive(Args)]
pub(crate) struct Options {
    /// Runs them on the published rayon-core, to compare.
    #[arg(long)]
    published: bool,

    /// Runs all of them once more in a process to which the kernel refuses heavy fences.
    #[arg(long, conflicts_with = "published")]
    refused: bool,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let mut stages = Stages::default();
    let core = if options.published {
        Core::Published
    } else {
        Core::Ours
    };
    add_stages(core, true, &mut stages);
    if options.refused {
        add_stages(Core::Refused(Errno::Eperm), false, &mut stages);
    }
    Ok(stages.summary())
}

/// What CI runs of this: the tests. Each of the examples is a program to link, two minutes in all.
pub(crate) fn add_ci_stages(stages: &mut Stages) {
    add_stages(Core::Ours, false, stages);
    if cfg!(target_os = "linux") {
        for errno in [Errno::Eperm, Errno::Enosys] {
            add_programs(Core::Refused(errno), stages);
        }
    }
}

fn add_stages(core: Core, with_examples: bool, stages: &mut Stages) {
    stages.run(format!("rayon's own tests{}", core.remark()), || {
        let sources = Sources::fetch(&place(), &[RAYON, CORE])?;
        let copy = sources.copy(RAYON, &place().join(core.folder()))?;
        sources::append(&copy.join("Cargo.toml"), &core.patch())?;
        core.test(&copy, RAYON, with_examples)
    });
    let name = format!("rayon-core's own tests of what is public{}", core.remark());
    stages.run(name, || {
        let sources = Sources::fetch(&place(), &[RAYON, CORE])?;
        let package = place().join(core.folder()).join("rayon-core-tests");
        core_tests::make(sources.of(CORE)?, &package)?;
        sources::append(&package.join("Cargo.toml"), &core.patch())?;
        core.test(&package, CORE, with_examples)
    });
    add_programs(core, stages);
}

fn add_programs(core: Core, stages: &mut Stages) {
    stages.run(
        format!("programs on rayon whose items block{}", core.remark()),
        || {
            let package = place().join(core.folder()).join(PROGRAMS.name);
            programs::copy(&package, core != Core::Published)?;
            core.test(&package, PROGRAMS, false)
        },
    );
}

/// Where all of it is made.
fn place() -> PathBuf {
    target_directory("rayon")
}

/// Under whose core the tests run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Core {
    Ours,
    /// In a process to which the kernel refuses heavy fences, by that error.
    Refused(Errno),
    Published,
}

impl Core {
    const fn folder(self) -> &'static str {
        match self {
            Self::Ours | Self::Refused(_) => "ours",
            Self::Published => "published",
        }
    }

    const fn remark(self) -> &'static str {
        match self {
            Self::Ours | Self::Published => "",
            Self::Refused(Errno::Eperm) => ", heavy fences refused",
            Self::Refused(Errno::Enosys) => ", heavy fences unknown",
        }
    }

    /// What a manifest says besides.
    fn patch(self) -> String {
        let workspace = "\n[workspace]\n".to_owned();
        match self {
            Self::Ours | Self::Refused(_) => {
                let path = root().join("compat/rayon-core");
                let path = path.display();
                workspace + &format!("\n[patch.crates-io]\nrayon-core = {{ path = \"{path}\" }}\n")
            }
            Self::Published => workspace,
        }
    }

    /// Runs the tests of the package in that folder, all of them; and the examples, if wanted.
    fn test(self, folder: &Path, package: Package, with_examples: bool) -> Result<Tally> {
        let (metadata, mut tests) = (self.cargo(folder), self.cargo(folder));
        let is_published = sources::is_from_registry(metadata, CORE)?;
        if is_published != (self == Self::Published) {
            return Err(format!("cargo takes another rayon-core than {}", self.folder()).into());
        }
        tests.args(["test", "--no-fail-fast"]);
        let wanted = match with_examples {
            true => package.tests + package.examples,
            false => {
                tests.args(["--lib", "--tests"]);
                package.tests
            }
        };
        if let Self::Refused(errno) = self {
            tests = errno.refusing(&tests)?;
        }
        let (status, output) = tee(&mut tests)?;
        let mut tally = tests_tally(&output);
        let skipped = libtest_skipped(&output);
        let complaints = [
            (!status.success(), "cargo test has failed".to_owned()),
            (
                tally.passed < wanted.run,
                format!("{} has {} tests", package.name, wanted.run),
            ),
            (
                skipped.ignored != wanted.ignored,
                format!("{} ignores {} tests", package.name, wanted.ignored),
            ),
            (skipped.filtered != 0, "tests were filtered out".to_owned()),
        ];
        for (_, complaint) in complaints.iter().filter(|(is_so, _)| *is_so) {
            println!("error: {complaint}; {} passed, {skipped}", tally.passed);
            tally.failed = tally.failed.max(1);
        }
        Ok(tally)
    }

    fn cargo(self, folder: &Path) -> Command {
        let mut command = cargo();
        command
            .current_dir(folder)
            .env("CARGO_TARGET_DIR", place().join("target"))
            .env_remove("RAYON_NUM_THREADS");
        command
    }
}
