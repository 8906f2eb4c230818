//! The workspace as cargo sees it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::Result;
use super::process::cargo_in;

/// The answer of `cargo metadata`.
#[derive(Deserialize)]
pub(crate) struct Workspace {
    pub packages: Vec<Package>,
}

#[derive(Deserialize)]
pub(crate) struct Package {
    pub name: String,
    pub version: String,
    pub manifest_path: PathBuf,
    /// The registry that it is from; none if it is from a folder.
    pub source: Option<String>,
    /// The oldest toolchain that it promises to build with.
    pub rust_version: Option<String>,
    /// The registries that it may be published in; `None`: all.
    publish: Option<Vec<String>>,
    pub dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
pub(crate) struct Dependency {
    pub name: String,
    /// `None`: of the package itself, not of its tests or its build script.
    pub kind: Option<String>,
    /// The folder of one in this workspace.
    pub path: Option<PathBuf>,
    /// The targets that have it: `cfg(loom)`, say.
    pub target: Option<String>,
}

impl Workspace {
    /// The workspace of the tree of that name.
    pub(crate) fn read(name: &str) -> Result<Self> {
        Self::read_by(cargo_in(name).args(["metadata", "--no-deps"]))
    }

    /// The packages that a `cargo metadata` lists.
    pub(crate) fn read_by(cargo: &mut Command) -> Result<Self> {
        let cargo = cargo.args(["--format-version", "1"]);
        let output = cargo.stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err("cargo metadata has failed".into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// The packages that may be published, by name.
    pub(crate) fn published(&self) -> impl Iterator<Item = &Package> {
        let is_published = |package: &&Package| package.publish.is_none();
        self.packages.iter().filter(is_published)
    }
}
