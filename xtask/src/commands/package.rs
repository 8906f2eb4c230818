//! `cargo xtask package`: what would be published compiles without warnings, and passes its own
//! tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::commands::lint;
use crate::support::error::Result;
use crate::support::metadata::Workspace;
use crate::support::process::{cargo, fresh_folder, git, root, target_directory, tee, untar};
use crate::support::stages::Stages;
use crate::support::tally::{Tally, tests};

/// The folder of the packages, below the target directory.
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
    stages.run("packages' own tests, outside of the workspace", test);
    stages.run("packages that a user locks", check_locked);
}

/// The most packages that somebody locks who depends on one of ours, that included: each of the
/// primitives, and the facade without its features.
const MOST_LOCKED: [usize; 2] = [5, 13];

fn check_locked() -> Result<Tally> {
    let primitives = lint::primitives().map(|name| (name, MOST_LOCKED[0]));
    let mut tally = Tally::default();
    for (name, most) in primitives.chain([("filch", MOST_LOCKED[1])]) {
        let locked = locked(name)?;
        println!("{name}: {locked}");
        if locked > most {
            println!("error: {name} has its users lock {locked} packages, and may {most}");
        }
        tally += Tally::of(locked <= most);
    }
    Ok(tally)
}

/// The number of packages that a user of this one locks, on whatever system.
fn locked(package: &str) -> Result<usize> {
    let mut tree = cargo();
    tree.args(["tree", "--package", package, "--no-default-features"]);
    tree.args(["--target", "all", "--edges", "normal,build"]);
    tree.args(["--prefix", "none", "--no-dedupe"]);
    let output = tree.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let listed = String::from_utf8(output.stdout)?;
    let packages: BTreeSet<_> = listed.lines().filter(|line| !line.is_empty()).collect();
    Ok(packages.len())
}

/// Packs each package, and checks what its archive has, by itself: with the features that it asks
/// for, and without what only its tests depend on. A warning is a failure.
fn publish(workspace: &Workspace) -> Result<Tally> {
    let mut pack = cargo();
    pack.args(["package", "--no-verify"])
        .env("CARGO_TARGET_DIR", target_directory(PLACE));
    for (name, _) in workspace.published() {
        pack.args(["--package", name]);
    }
    if !git(&["status", "--porcelain"])?.is_empty() {
        println!("there are changes that are not committed: cargo is told to take them");
        pack.arg("--allow-dirty");
    }
    if !runs_without_a_warning(&mut pack)? {
        return Ok(Tally::of(false));
    }
    unpack(workspace)?;
    let mut tally = Tally::default();
    for (name, _) in workspace.published() {
        let mut build = cargo_of_the_packages();
        tally += Tally::of(runs_without_a_warning(build.args([
            "check",
            "--package",
            name,
        ]))?);
    }
    Ok(tally)
}

fn runs_without_a_warning(cargo: &mut Command) -> Result<bool> {
    let (status, output) = tee(cargo)?;
    let warnings = output.lines().filter(|line| is_warning(line)).count();
    let passed = status.success() && warnings == 0;
    if !passed {
        println!("error: cargo has {warnings} warnings, and ended with {status}");
    }
    Ok(passed)
}

/// Tells a warning, except that tests which are left out on purpose are not in an archive.
fn is_warning(line: &str) -> bool {
    line.starts_with("warning: ") && !line.starts_with("warning: ignoring test `")
}

/// Unpacks the archives into a workspace of its own, whose members find each other there instead of
/// in the registry.
fn unpack(workspace: &Workspace) -> Result<()> {
    let place = unpacked();
    fresh_folder(&place)?;
    let mut names = Vec::new();
    for (name, member) in workspace.published() {
        let folder = format!("{name}-{}", member.version);
        let archive = target_directory(PLACE).join(format!("package/{folder}.crate"));
        untar(&archive, &place)?;
        names.push((name, folder));
    }
    let profiles = profiles(&fs::read_to_string(root().join("Cargo.toml"))?);
    fs::write(place.join("Cargo.toml"), manifest(&names, &profiles))?;
    // The versions that everything else is tested with.
    fs::copy(root().join("Cargo.lock"), place.join("Cargo.lock"))?;
    Ok(())
}

fn unpacked() -> PathBuf {
    target_directory(PLACE).join("unpacked")
}

/// cargo in the workspace of the unpacked packages. What they depend on from the registry is
/// compiled once for both workspaces.
fn cargo_of_the_packages() -> Command {
    let mut command = cargo();
    command
        .current_dir(unpacked())
        .env("CARGO_TARGET_DIR", root().join("target"));
    command
}

/// Runs the tests of the unpacked packages: that they pass, and that no file is missing. (Their
/// documentation's examples need none, and run in this workspace.)
fn test() -> Result<Tally> {
    let mut command = cargo_of_the_packages();
    command
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(["--lib", "--bins", "--tests", "--examples"]);
    tests(&mut command)
}

/// The part of the workspace's manifest about builds for tests: built alike, dependencies are
/// built once.
fn profiles(manifest: &str) -> String {
    let sections = manifest.split("\n\n");
    sections
        .filter(|section| section.starts_with("[profile.dev"))
        .map(|section| format!("\n{}\n", section.trim_end()))
        .collect()
}

fn manifest(packages: &[(&str, String)], profiles: &str) -> String {
    let mut text = "[workspace]\nresolver = \"3\"\nmembers = [\"*-*\"]\n".to_owned();
    text += "\n[patch.crates-io]\n";
    for (name, folder) in packages {
        text += &format!("{name} = {{ path = \"{folder}\" }}\n");
    }
    text + profiles
}

#[cfg(test)]
mod tests {
    use super::{is_warning, manifest, profiles};

    #[test]
    fn a_warning_is_known_by_its_beginning() {
        assert!(is_warning(
            "warning: manifest has no documentation, homepage or repository"
        ));
        assert!(!is_warning("   Packaging filch v0.1.0"));
    }

    #[test]
    fn packages_find_each_other_in_their_workspace() {
        let text = manifest(&[("filch-sync", "filch-sync-0.1.0".to_owned())], "");
        assert!(text.contains("members = [\"*-*\"]"));
        assert!(
            text.ends_with("[patch.crates-io]\nfilch-sync = { path = \"filch-sync-0.1.0\" }\n")
        );
    }

    #[test]
    fn packages_are_built_as_the_workspace_is() {
        let dev = "[profile.dev]\ndebug = 1\n\n[profile.dev.package.\"*\"]\ndebug = false";
        let all = format!("[workspace]\nmembers = []\n\n{dev}\n\n[profile.release]\nlto = true\n");
        assert_eq!(profiles(&all), format!("\n{dev}\n"));
        assert!(manifest(&[], &profiles(&all)).ends_with(&format!("[patch.crates-io]\n\n{dev}\n")));
    }
}
