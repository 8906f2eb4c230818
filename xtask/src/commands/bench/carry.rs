//! The comparisons as one file, for a machine that has neither cargo nor this repository.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::aligned_branches;
use crate::commands::beside::Beside;
use crate::support::error::Result;
use crate::support::process::{git, target_directory};

/// Builds the program, linked with everything that it needs, and copies it to `file`. It knows the
/// commit that it was built at.
pub(super) fn build(file: &Path) -> Result<()> {
    let host = host()?;
    let place = target_directory("carry");
    let mut build = Beside::Rivals.cargo_into("carry");
    build
        // With a target, the flags are about the program alone, and not about macros and build
        // scripts, which cannot be linked so.
        .args(["build", "--profile", "measured"])
        .args(["--target", &host])
        .env("RUSTFLAGS", flags())
        // A tenth of the size.
        .env("CARGO_PROFILE_MEASURED_DEBUG", "false")
        .env("FILCH_COMMIT", commit()?);
    if !build.status()?.success() {
        return Err("the comparisons do not build".into());
    }
    fs::copy(place.join(host).join("measured/filch-benches"), file)?;
    println!(
        "{}: `--report FOLDER` stores every group, and `--curve --report FOLDER` the curves up to \
         the cores that are there",
        file.display()
    );
    Ok(())
}

fn flags() -> String {
    // The system's libraries may be older there.
    let mut flags = "-Ctarget-feature=+crt-static".to_owned();
    if let Some(flag) = aligned_branches() {
        flags.push(' ');
        flags.push_str(flag);
    }
    flags
}

/// Returns the target that this compiler builds for by itself.
fn host() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output()?;
    let text = String::from_utf8(output.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host
        .ok_or("rustc does not say what it builds for")?
        .to_owned())
}

/// Returns the commit as the program says it where it is run in the repository.
fn commit() -> Result<String> {
    let described = git(&["describe", "--always", "--dirty", "--exclude=*"])?;
    Ok(described.trim().to_owned())
}
