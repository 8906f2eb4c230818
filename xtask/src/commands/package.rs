//! `cargo xtask package`: what would be published builds without warnings, and passes its own
//! tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::support::error::Result;
use crate::support::metadata::Workspace;
use crate::support::process::{cargo, root, target_directory, tee_both};
use crate::support::stages::Stages;
use crate::support::tally::{Tally, libtest};

/// Where the packages are made, below the target directory.
const PLACE: &str = "publish";

pub(crate) fn run() -> Result<ExitCode> {
    let mut stages = Stages::default();
    add_stages(&Workspace::read()?, &mut stages);
    Ok(stages.summary())
}

/// The stages of `package`, for `ci` to run among its own.
pub(crate) fn add_stages(workspace: &Workspace, stages: &mut Stages) {
    stages.run("packages, as they would be published", || {
        publish(workspace)
    });
    stages.run("packages' own tests, outside of the workspace", || {
        test(workspace)
    });
}

/// Packs each package, and builds it from its archive. A warning is a failure.
fn publish(workspace: &Workspace) -> Result<Tally> {
    forget_earlier(workspace)?;
    let mut command = cargo();
    command
        .args(["publish", "--dry-run", "--workspace"])
        .env("CARGO_TARGET_DIR", target_directory(PLACE));
    if is_dirty()? {
        println!("there are changes that are not committed: cargo is told to take them");
        command.arg("--allow-dirty");
    }
    let (status, output) = tee_both(&mut command)?;
    let warnings = output.lines().filter(|line| is_warning(line)).count();
    if !status.success() || warnings > 0 {
        println!("error: cargo publish has {warnings} warnings, and ended with {status}");
        return Ok(Tally::of(false));
    }
    let passed = workspace.published().count();
    Ok(Tally {
        passed: passed.try_into()?,
        failed: 0,
    })
}

/// Removes what an earlier dry run has left. The packages are built against each other from a
/// registry that cargo makes for them; a registry's version never changes, so that cargo would take
/// yesterday's.
fn forget_earlier(workspace: &Workspace) -> Result<()> {
    let mut old = vec![target_directory(PLACE)];
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let unpacked = home.map(|home| home.join("registry/src"));
    // One that is no host's: its name is a hash alone.
    let registries = unpacked.and_then(|unpacked| fs::read_dir(unpacked).ok());
    for registry in registries.into_iter().flatten() {
        let registry = registry?;
        if registry.file_name().to_string_lossy().starts_with('-') {
            let packages = workspace.published();
            let names = packages.map(|(name, member)| format!("{name}-{}", member.version));
            old.extend(names.map(|name| registry.path().join(name)));
        }
    }
    for place in old.iter().filter(|place| place.exists()) {
        fs::remove_dir_all(place)?;
    }
    Ok(())
}

/// Each dry run ends with a warning that it is one.
fn is_warning(line: &str) -> bool {
    line.starts_with("warning: ") && line != "warning: aborting upload due to dry run"
}

fn is_dirty() -> Result<bool> {
    let mut status = Command::new("git");
    status.args(["status", "--porcelain"]).current_dir(root());
    Ok(!status.output()?.stdout.is_empty())
}

/// Copies what `publish` has unpacked into a workspace of its own, whose members find each other
/// there instead of in the registry, and runs their tests: that no file is missing. (Their
/// documentation's examples need none, and run in this workspace.)
fn test(workspace: &Workspace) -> Result<Tally> {
    let place = target_directory(PLACE).join("own-tests");
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::create_dir_all(&place)?;
    let mut names = Vec::new();
    for (name, member) in workspace.published() {
        let unpacked = format!("{name}-{}", member.version);
        copy(
            &target_directory(PLACE).join("package").join(&unpacked),
            &place,
        )?;
        names.push((name, unpacked));
    }
    fs::write(place.join("Cargo.toml"), manifest(&names))?;
    // The versions that everything else is tested with.
    fs::copy(root().join("Cargo.lock"), place.join("Cargo.lock"))?;
    let mut command = cargo();
    command
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(["--lib", "--bins", "--tests", "--examples"])
        .current_dir(&place)
        .env("CARGO_TARGET_DIR", root().join("target"));
    libtest(&mut command)
}

fn copy(package: &Path, place: &Path) -> Result<()> {
    let mut copy = Command::new("cp");
    copy.arg("-R").arg(package).arg(place);
    if !copy.status()?.success() {
        return Err(format!("{} cannot be copied", package.display()).into());
    }
    Ok(())
}

fn manifest(packages: &[(&str, String)]) -> String {
    let mut text = "[workspace]\nresolver = \"3\"\nmembers = [\"*-*\"]\n".to_owned();
    text += "\n[patch.crates-io]\n";
    for (name, folder) in packages {
        text += &format!("{name} = {{ path = \"{folder}\" }}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{is_warning, manifest};

    #[test]
    fn a_dry_run_that_says_so_is_no_warning() {
        assert!(!is_warning("warning: aborting upload due to dry run"));
        assert!(is_warning(
            "warning: manifest has no documentation, homepage or repository"
        ));
        assert!(!is_warning("   Packaging filch v0.1.0"));
    }

    #[test]
    fn packages_find_each_other_in_their_workspace() {
        let text = manifest(&[("filch-sync", "filch-sync-0.1.0".to_owned())]);
        assert!(text.contains("members = [\"*-*\"]"));
        assert!(
            text.ends_with("[patch.crates-io]\nfilch-sync = { path = \"filch-sync-0.1.0\" }\n")
        );
    }
}
