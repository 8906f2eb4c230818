//! Published packages as cargo has them in its registry, and copies that can be changed.

use std::fmt::Write as _;
use std::fs;
use std::ops::Add;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::error::Result;
use crate::support::metadata::metadata;
use crate::support::process::cargo;

/// A published package, and what its tests amount to on x86-64.
#[derive(Clone, Copy)]
pub(super) struct Package {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    pub(super) tests: Count,
    /// Those of its documentation.
    pub(super) examples: Count,
}

/// Numbers of tests.
#[derive(Clone, Copy)]
pub(super) struct Count {
    pub(super) run: u64,
    /// The package ignores them itself.
    pub(super) ignored: u64,
}

impl Count {
    pub(super) const fn of(run: u64, ignored: u64) -> Self {
        Self { run, ignored }
    }
}

impl Add for Count {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::of(self.run + other.run, self.ignored + other.ignored)
    }
}

/// Packages, unpacked by cargo.
pub(super) struct Sources(Value);

impl Sources {
    /// Makes cargo download what is not there.
    pub(super) fn fetch(place: &Path, packages: &[Package]) -> Result<Self> {
        let folder = place.join("fetch");
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("src/lib.rs"), "")?;
        let mut manifest = "[package]\nname = \"fetch\"\nedition = \"2024\"\n".to_owned();
        manifest += "[workspace]\n[dependencies]\n";
        for Package { name, version, .. } in packages {
            writeln!(manifest, "{name} = \"={version}\"")?;
        }
        fs::write(folder.join("Cargo.toml"), manifest)?;
        let mut command = cargo();
        command.current_dir(&folder);
        Ok(Self(metadata(command, &[])?))
    }

    /// Returns the folder into which cargo has unpacked it.
    pub(super) fn of(&self, package: Package) -> Result<PathBuf> {
        let found = find(&self.0, package)?;
        let manifest = found["manifest_path"].as_str().map(Path::new);
        let folder = manifest.and_then(Path::parent);
        Ok(folder.ok_or("cargo names no folder")?.to_owned())
    }

    /// A copy of it in `place`. One that is there stays: what is published never changes.
    pub(super) fn copy(&self, package: Package, place: &Path) -> Result<PathBuf> {
        let source = self.of(package)?;
        let copy = place.join(format!("{}-{}", package.name, package.version));
        if !copy.exists() {
            // An interrupted copy must not look like one.
            let unfinished = copy.with_extension("part");
            if unfinished.exists() {
                fs::remove_dir_all(&unfinished)?;
            }
            copy_folder(&source, &unfinished)?;
            fs::rename(unfinished, &copy)?;
        }
        fs::copy(source.join("Cargo.toml"), copy.join("Cargo.toml"))?;
        Ok(copy)
    }
}

/// True if cargo takes the package from a registry, and not from a folder.
pub(super) fn is_from_registry(command: Command, package: Package) -> Result<bool> {
    Ok(!find(&metadata(command, &[])?, package)?["source"].is_null())
}

/// Adds lines to a file.
pub(super) fn append(file: &Path, lines: &str) -> Result<()> {
    let text = fs::read_to_string(file)? + lines;
    fs::write(file, text)?;
    Ok(())
}

/// Copies a folder, which has the new name then.
pub(super) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to.parent().ok_or("it has no folder")?)?;
    let copied = Command::new("cp").arg("-r").arg(from).arg(to).status()?;
    if copied.success() {
        return Ok(());
    }
    Err(format!("{} cannot be copied", from.display()).into())
}

fn find(metadata: &Value, package: Package) -> Result<&Value> {
    let packages = metadata["packages"].as_array();
    let is_it = |found: &&Value| {
        found["name"].as_str() == Some(package.name)
            && found["version"].as_str() == Some(package.version)
    };
    let found = packages.into_iter().flatten().find(is_it);
    found.ok_or_else(|| format!("cargo has no {} {}", package.name, package.version).into())
}
