//! `cargo xtask ci`: what a change must pass before it is merged.

use std::process::{Command, ExitCode, Stdio};

use crate::commands::lint;
use crate::commands::sanitize;
use crate::commands::test;
use crate::support::error::Result;
use crate::support::metadata::Workspace;
use crate::support::process::{cargo, cargo_with_cfg};
use crate::support::stages::Stages;

/// A target that has no std, and 64-bit atomics.
const TARGET_WITHOUT_STD: &str = "x86_64-unknown-none";

pub(crate) fn run() -> Result<ExitCode> {
    let workspace = Workspace::read()?;
    let mut stages = Stages::default();

    stages.check("format", cargo().args(["fmt", "--all", "--check"]));
    stages.run("house rules", || lint::check(&workspace));

    let mut clippy = cargo();
    clippy.args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]);
    stages.check("clippy", &mut clippy);

    // The models' package alone: clippy lints the members that it depends on as well.
    let mut clippy = cargo_with_cfg("loom");
    clippy.args([
        "clippy",
        "--package",
        "loom-tests",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]);
    stages.check("clippy, as loom sees the code", &mut clippy);

    let mut clippy = cargo_with_cfg("shuttle");
    clippy.args([
        "clippy",
        "--package",
        "shuttle-tests",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]);
    stages.check("clippy, as shuttle sees the code", &mut clippy);

    if is_installed(TARGET_WITHOUT_STD) {
        let mut check = cargo();
        check.args(["check", "--lib", "--target", TARGET_WITHOUT_STD]);
        for primitive in lint::PRIMITIVES_WITHOUT_STD {
            check.args(["--package", primitive]);
        }
        stages.check("primitives, on a target without std", &mut check);
    }

    let mut docs = cargo();
    docs.args([
        "doc",
        "--workspace",
        "--no-deps",
        "--exclude",
        "loom-tests",
        "--exclude",
        "shuttle-tests",
    ])
    .env("RUSTDOCFLAGS", "-D warnings");
    stages.check("documentation", &mut docs);

    // The harnesses exist in builds of their own only.
    for (stage, package, name) in [
        ("documentation of the models", "loom-tests", "loom"),
        ("documentation of the schedules", "shuttle-tests", "shuttle"),
    ] {
        let mut docs = cargo_with_cfg(name);
        docs.args(["doc", "--package", package, "--no-deps"])
            .env("RUSTDOCFLAGS", format!("--cfg {name} -D warnings"));
        stages.check(stage, &mut docs);
    }

    test::add_stages(&mut stages);
    sanitize::add_ci_stage(&workspace, &mut stages);
    Ok(stages.summary())
}

/// Whether std-less builds for `target` are possible here. Where they are not, `house rules` still
/// refuses a primitive without `#![no_std]`.
fn is_installed(target: &str) -> bool {
    let mut probe = Command::new("rustc");
    probe
        .args(["--print", "target-libdir", "--target", target])
        .stderr(Stdio::null());
    let Ok(output) = probe.output() else {
        return false;
    };
    let directory = String::from_utf8_lossy(&output.stdout).into_owned();
    std::path::Path::new(directory.trim()).is_dir()
}
