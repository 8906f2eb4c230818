//! The workspaces beside this one, each with a lock file of its own: what `cargo xtask test apps`
//! runs, and CI.

use std::process::Command;

use clap::ValueEnum;

use crate::commands::test;
use crate::support::error::Result;
use crate::support::metadata::Workspace;
use crate::support::process::{Tree, root, target_directory};
use crate::support::stages::Stages;

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Beside {
    /// The build farm, and messages over NATS.
    Apps,
    /// The comparisons with other crates, and what is made of them.
    Rivals,
}

impl Beside {
    pub(crate) const ALL: [Self; 2] = [Self::Apps, Self::Rivals];

    /// Returns its name and its folder.
    fn place(self) -> (&'static str, &'static str) {
        match self {
            Self::Apps => ("apps", "apps"),
            Self::Rivals => ("rivals", "benches/rivals"),
        }
    }

    /// cargo in that workspace, which builds in `target/NAME`.
    pub(crate) fn cargo(self) -> Command {
        self.cargo_into(self.place().0)
    }

    /// The same, which builds in `target/DIRECTORY`.
    pub(crate) fn cargo_into(self, directory: &str) -> Command {
        let tree = Tree {
            root: root().join(self.place().1),
            target: target_directory(directory),
        };
        tree.cargo()
    }

    pub(crate) fn workspace(self) -> Result<Workspace> {
        Workspace::read_by(self.cargo())
    }

    /// Adds its tests and examples.
    pub(crate) fn add_tests(self, stages: &mut Stages) {
        let (name, _) = self.place();
        stages.run(
            format!("{name}: unit, property and integration tests"),
            || test::code_tests(self.cargo(), &[]),
        );
        if let Self::Apps = self {
            stages.run("apps: documentation tests", || {
                test::doc_tests(self.cargo())
            });
            stages.run("apps: examples", || {
                test::examples(&|| self.cargo(), &self.workspace()?)
            });
        }
    }

    /// Adds the checks of its form, and of its documentation.
    pub(crate) fn add_checks(self, stages: &mut Stages) {
        let clippy = "clippy --workspace --all-targets -- -D warnings";
        for (pass, arguments) in [
            ("format", "fmt --all --check"),
            ("clippy", clippy),
            ("documentation", "doc --workspace --no-deps"),
        ] {
            let mut command = self.cargo();
            command.args(arguments.split(' '));
            command.env("RUSTDOCFLAGS", "-D warnings");
            stages.check(format!("{}: {pass}", self.place().0), &mut command);
        }
    }
}
