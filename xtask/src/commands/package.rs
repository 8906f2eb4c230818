//! `cargo xtask package`: what would be published compiles without warnings, and passes its own
//! tests.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, ExitCode};

use crate::support::Result;
use crate::support::metadata::{Package, Workspace};
use crate::support::process::{
    Tree, cargo, cargo_in, fresh_folder, git, root, target_directory, tee,
};
use crate::support::stages::Stages;
use crate::support::tally::{Tally, tests};

/// The folder of the packages, below the target directory.
const PLACE: &str = "publish";

pub(crate) fn run() -> Result<ExitCode> {
    let mut stages = Stages::default();
    add_stages(&Workspace::read("")?, &mut stages);
    Ok(stages.summary())
}

/// The stages of `package`, for `ci` to run among its own.
pub(crate) fn add_stages(workspace: &Workspace, stages: &mut Stages) {
    stages.run("packages, as they would be published", || {
        publish(workspace)
    });
    stages.run("packages' own tests, outside of the workspace", test);
    stages.run("packages that a user locks", || check_locked(workspace));
    stages.run("the first line of the README, by git", from_git);
}

/// Adds our packages to a fresh one as the README has it, from a clone in place of the forge, and
/// runs what it shows. What is not committed is not there.
fn from_git() -> Result<Tally> {
    let place = target_directory(PLACE).join("from-git");
    fresh_folder(&place)?;
    let user = Tree {
        root: place.join("user"),
        target: target_directory("publish"),
    };
    let clone = place.join("clone");
    let mut git = Command::new("git");
    git.args(["clone", "--quiet"]).arg(root()).arg(&clone);
    let (cloned, _) = tee(&mut git)?;
    let program = fs::read_to_string(root().join("crates/filch/examples/readme.rs"))?;
    fs::create_dir_all(user.root.join("src"))?;
    fs::write(user.root.join("src/main.rs"), program)?;
    let manifest = "[package]\nname = \"user\"\nedition = \"2024\"\n\n[workspace]\n";
    fs::write(user.root.join("Cargo.toml"), manifest)?;
    let address = format!("file://{}", clone.display());
    let mut tally = Tally::of(cloned.success());
    for arguments in [
        &["add", "filch-deque", "--git", &address][..],
        &["add", "filch", "--git", &address],
        &["run", "--quiet"],
    ] {
        tally += Tally::of(runs_without_a_warning(user.cargo().args(arguments))?);
    }
    Ok(tally)
}

/// The most packages that somebody locks who depends on one of ours without its features, that
/// included: five, but on these so many.
const MOST_LOCKED: [(&str, usize); 12] = [
    ("filch-processors", 6),
    ("filch-build-scheduler", 6),
    ("filch-fork-join", 7),
    ("filch-scheduler", 12),
    ("filch-actors", 13),
    ("filch", 13),
    ("filch-supervisor", 14),
    ("filch-engine", 20),
    ("filch-models", 29),
    ("filch-metrics", 31),
    ("filch-cli", 60),
    ("filch-testing", 61),
];

fn check_locked(workspace: &Workspace) -> Result<Tally> {
    let mut tally = Tally::default();
    for Package { name, .. } in workspace.published() {
        let own = MOST_LOCKED.iter().find(|(of, _)| of == name);
        let most = own.map_or(5, |(_, most)| *most);
        let mut tree = cargo();
        tree.args(["tree", "--package", name, "--no-default-features"]);
        tree.args(["--target", "all", "--edges", "normal,build"]);
        let output = tree.args(["--prefix", "none", "--no-dedupe"]).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        let listed = String::from_utf8(output.stdout)?;
        let packages = listed.lines().filter(|line| !line.is_empty());
        let locked = packages.collect::<BTreeSet<_>>().len();
        println!("{name} has its users lock {locked} packages, and may {most}");
        tally += Tally::of(locked <= most);
    }
    Ok(tally)
}

/// Packs each package, and checks what its archive has, by itself: with the features that it asks
/// for, and without what only its tests depend on. A warning is a failure.
fn publish(workspace: &Workspace) -> Result<Tally> {
    let mut pack = cargo_in(PLACE);
    pack.args(["package", "--no-verify"]);
    let names = || workspace.published().map(|package| &*package.name);
    pack.args(names().flat_map(|name| ["--package", name]));
    if !git(&["status", "--porcelain"])?.is_empty() {
        println!("there are changes that are not committed: cargo is told to take them");
        pack.arg("--allow-dirty");
    }
    if !runs_without_a_warning(&mut pack)? {
        return Ok(Tally::of(false));
    }
    unpack(workspace)?;
    let mut tally = Tally::default();
    for name in names() {
        let mut check = unpacked().cargo();
        check.args(["check", "--package", name]);
        tally += Tally::of(runs_without_a_warning(&mut check)?);
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
    let place = unpacked().root;
    fresh_folder(&place)?;
    let mut manifest = HEAD.to_owned();
    for Package { name, version, .. } in workspace.published() {
        let folder = format!("{name}-{version}");
        let archive = target_directory(PLACE).join(format!("package/{folder}.crate"));
        let mut tar = Command::new("tar");
        // What is in it is modified now, or cargo would take it for old.
        tar.arg("-xmf").arg(&archive).arg("-C").arg(&place);
        if !tar.status()?.success() {
            return Err(format!("{} cannot be unpacked", archive.display()).into());
        }
        manifest += &format!("{name} = {{ path = \"{folder}\" }}\n");
    }
    fs::write(place.join("Cargo.toml"), manifest)?;
    // The versions that everything else is tested with.
    fs::copy(root().join("Cargo.lock"), place.join("Cargo.lock"))?;
    Ok(())
}

/// The workspace of the unpacked packages. What they depend on from the registry is compiled once
/// for both workspaces.
fn unpacked() -> Tree {
    Tree {
        root: target_directory(PLACE).join("unpacked"),
        target: root().join("target"),
    }
}

/// Runs the tests of the unpacked packages: that they pass, and that no file is missing. (Their
/// documentation's examples need none, and run in this workspace.)
fn test() -> Result<Tally> {
    let mut command = unpacked().cargo();
    command.args(["test", "--workspace", "--no-fail-fast"]);
    command.args(["--lib", "--bins", "--tests", "--examples"]);
    tests(&mut command)
}

/// The manifest of that workspace. Built as in this one, dependencies are built once.
const HEAD: &str = r#"[workspace]
resolver = "3"
members = ["*-*"]

[profile.dev]
debug = "line-tables-only"

[profile.dev.package."*"]
debug = false

[patch.crates-io]
"#;

#[cfg(test)]
mod tests {
    use super::is_warning;

    #[test]
    fn a_warning_is_known_by_its_beginning() {
        assert!(is_warning("warning: manifest has no documentation"));
        assert!(!is_warning("   Packaging filch v0.1.0"));
    }
}
