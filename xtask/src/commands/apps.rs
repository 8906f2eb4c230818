//! The programs in `apps`, a workspace of its own: what `cargo xtask test apps` runs, and CI.

use std::process::Command;

use crate::commands::test;
use crate::support::error::Result;
use crate::support::metadata::Workspace;
use crate::support::process::{Tree, root, target_directory};
use crate::support::stages::Stages;

/// Where they are.
const FOLDER: &str = "apps";

/// cargo in that workspace, which builds in `target/apps`.
fn cargo_there() -> Command {
    let tree = Tree {
        root: root().join(FOLDER),
        target: target_directory(FOLDER),
    };
    tree.cargo()
}

pub(crate) fn workspace() -> Result<Workspace> {
    Workspace::read_by(cargo_there())
}

/// Their tests and examples.
pub(crate) fn add_tests(stages: &mut Stages) {
    stages.run("apps: unit, property and integration tests", || {
        test::code_tests(cargo_there(), &[])
    });
    stages.run("apps: documentation tests", || {
        test::doc_tests(cargo_there())
    });
    stages.run("apps: examples", || {
        test::examples(&cargo_there, &workspace()?)
    });
}

/// Their form, and their documentation.
pub(crate) fn add_checks(stages: &mut Stages) {
    let checks = [
        ("apps: format", "fmt --all --check"),
        (
            "apps: clippy",
            "clippy --workspace --all-targets -- -D warnings",
        ),
        ("apps: documentation", "doc --workspace --no-deps"),
    ];
    for (name, line) in checks {
        let mut cargo = cargo_there();
        cargo
            .args(line.split(' '))
            .env("RUSTDOCFLAGS", "-D warnings");
        stages.check(name, &mut cargo);
    }
}
