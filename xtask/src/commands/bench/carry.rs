//! The comparisons as one file, for a machine that has neither cargo nor this repository.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use super::aligned_branches;
use crate::support::Result;
use crate::support::process::{Tree, git};

/// Builds the program, linked with everything that it needs, and copies it to `file`. It knows the
/// commit that it was built at.
pub(super) fn build(file: &Path) -> Result<ExitCode> {
    let mut rustc = Command::new("rustc");
    let host = rustc.args(["--print", "host-tuple"]).output()?.stdout;
    let host = String::from_utf8(host)?;
    let commit = git(&["describe", "--always", "--dirty", "--exclude=*"])?;
    // The system's libraries may be older there.
    let flags = [
        "-Ctarget-feature=+crt-static",
        aligned_branches().unwrap_or(""),
    ];
    let tree = Tree::named("carry");
    let mut build = tree.cargo();
    build
        // With a target, the flags are about the program alone, and not about macros and build
        // scripts, which cannot be linked so.
        .args(["build", "--profile", "measured", "--target", host.trim()])
        .env("RUSTFLAGS", flags.join(" "))
        // A tenth of the size.
        .env("CARGO_PROFILE_MEASURED_DEBUG", "false")
        .env("FILCH_COMMIT", commit.trim());
    if !build.status()?.success() {
        return Err("the comparisons do not build".into());
    }
    let built = tree.target.join(host.trim()).join("measured/filch-benches");
    fs::copy(built, file)?;
    println!("{}: `--report FOLDER` stores every group", file.display());
    Ok(ExitCode::SUCCESS)
}
