//! `cargo xtask rayon`: the tests of the published rayon, and ours, on our rayon-core.

mod core_tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::commands::refused::ERRORS;
use crate::support::Result;
use crate::support::metadata::Workspace;
use crate::support::process::{cargo, fresh_folder, known_files, root, target_directory, write};
use crate::support::stages::Stages;
use crate::support::tally::{Tally, tests};

/// A package, and the numbers of its tests on x86-64 that it does not ignore itself.
#[derive(Clone, Copy)]
struct Package {
    name: &'static str,
    version: &'static str,
    tests: u64,
    /// Those of its documentation.
    examples: u64,
}

/// The newest version that asks for the rayon-core that ours stands for.
const RAYON: Package = Package {
    name: "rayon",
    version: "1.12.0",
    tests: 332,
    examples: 246,
};

/// Rayon's core, of which the tests that use the public interface are run, and the examples of its
/// documentation.
const CORE: Package = Package {
    name: "rayon-core",
    version: "1.13.0",
    tests: 108,
    examples: 27,
};

/// Our programs on rayon, and the tests of those whose items block.
const PROGRAMS: Package = Package {
    name: "on-rayon",
    version: "0.1.0",
    tests: 21,
    examples: 0,
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
        for error in ERRORS {
            add_programs(Some(error), stages);
        }
    }
}

fn add_stages(with_examples: bool, stages: &mut Stages) {
    stages.run("rayon's own tests", || {
        let copy = place(RAYON);
        copy_folder(&published(RAYON)?, &copy)?;
        let manifest = copy.join("Cargo.toml");
        let text = fs::read_to_string(&manifest)? + "\n[workspace]\n";
        fs::write(manifest, text)?;
        test(RAYON, with_examples, None)
    });
    stages.run("rayon-core's own tests of what is public", || {
        core_tests::make(&published(CORE)?, &place(CORE))?;
        test(CORE, with_examples, None)
    });
    add_programs(None, stages);
}

/// The programs; where there is an error, in processes to which the kernel refuses heavy fences by
/// that.
fn add_programs(refused: Option<&str>, stages: &mut Stages) {
    let mut name = "programs on rayon whose items block".to_owned();
    if let Some(error) = refused {
        name += &format!(", heavy fences refused: {error}");
    }
    stages.run(name, || {
        copy_programs(&place(PROGRAMS))?;
        test(PROGRAMS, false, refused)
    });
}

/// Returns the folder where a package is made.
fn place(package: Package) -> PathBuf {
    target_directory("rayon").join(format!("{}-{}", package.name, package.version))
}

/// The options by which cargo takes our rayon-core.
pub(crate) fn on_ours() -> [String; 2] {
    let path = root().join("compat/rayon-core");
    let patch = format!("patch.crates-io.rayon-core.path = {path:?}");
    ["--config".to_owned(), patch]
}

/// Returns the folder into which cargo has unpacked a published package; it downloads what is not
/// there.
fn published(package: Package) -> Result<PathBuf> {
    let folder = target_directory("rayon").join("fetch");
    write(b"", &folder.join("src/lib.rs"))?;
    let mut manifest =
        "[package]\nname = \"fetch\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n".to_owned();
    for Package { name, version, .. } in [RAYON, CORE] {
        manifest += &format!("{name} = \"={version}\"\n");
    }
    write(manifest.as_bytes(), &folder.join("Cargo.toml"))?;
    let mut cargo = cargo();
    cargo.current_dir(folder);
    let manifest = find(cargo, package)?.manifest_path;
    Ok(manifest.with_file_name(""))
}

/// Finds the package among those that cargo takes.
fn find(mut cargo: Command, package: Package) -> Result<crate::support::metadata::Package> {
    let Package { name, version, .. } = package;
    let packages = Workspace::read_by(cargo.arg("metadata"))?.packages;
    let mut packages = packages.into_iter();
    let found = packages.find(|found| found.name == name && found.version == version);
    found.ok_or_else(|| format!("cargo has no {name} {version}").into())
}

/// Copies what is in a folder; files keep their time stamps, so that they are built once.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let mut copy = Command::new("cp");
    copy.arg("-rp").arg(from.join(".")).arg(to);
    if copy.status()?.success() {
        return Ok(());
    }
    Err(format!("{copy:?} has failed").into())
}

/// Copies `examples/rayon`, programs on rayon with tests of ours, for either core.
pub(crate) fn copy_programs(place: &Path) -> Result<()> {
    // cargo finds programs and tests by looking.
    fresh_folder(&place.join("src"))?;
    fresh_folder(&place.join("tests"))?;
    for file in known_files()? {
        if let Ok(own) = file.strip_prefix("examples/rayon") {
            write(&fs::read(root().join(&file))?, &place.join(own))?;
        }
    }
    Ok(())
}

/// Runs the tests of a package, all of them; and the examples, if wanted.
fn test(package: Package, with_examples: bool, refused: Option<&str>) -> Result<Tally> {
    let cargo = || {
        let mut command = cargo();
        command
            .args(on_ours())
            .current_dir(place(package))
            .env("CARGO_TARGET_DIR", target_directory("rayon").join("target"))
            .env_remove("RAYON_NUM_THREADS");
        command
    };
    if find(cargo(), CORE)?.source.is_some() {
        return Err("cargo takes another rayon-core than ours".into());
    }
    let mut command = cargo();
    if let Some(error) = refused {
        let program = std::env::current_exe()?;
        let runner = format!("[{program:?}, 'refused', '--errno', '{error}', '--']");
        let runner = format!("target.'cfg(all())'.runner = {runner}");
        command.args(["--config", &runner]);
    }
    command.args(["test", "--no-fail-fast"]);
    let mut wanted = package.tests;
    if with_examples {
        wanted += package.examples;
    } else {
        command.args(["--lib", "--tests"]);
    }
    let mut tally = tests(&mut command)?;
    if tally.passed < wanted {
        println!("error: {} has {wanted} tests; {tally}", package.name);
        tally.failed = tally.failed.max(1);
    }
    Ok(tally)
}
