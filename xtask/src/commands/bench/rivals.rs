//! The rivals in programs of their own: those outside Rust, built where there are their compilers,
//! and those on rayon.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use crate::commands::rayon::programs;
use crate::support::error::Result;
use crate::support::process::{cargo, root, target_directory};

/// Builds Go's side of the comparisons, where there is a Go toolchain: `go` in the path, or what
/// `FILCH_GO` says.
pub(super) fn go() -> Result<Option<PathBuf>> {
    let asked_for = std::env::var_os("FILCH_GO");
    let go = asked_for.clone().unwrap_or_else(|| "go".into());
    let program = target_directory("go-rival").join("filch-go-rival");
    let mut command = Command::new(&go);
    command
        .args(["build", "-o"])
        .arg(&program)
        .arg(".")
        .current_dir(root().join("benches/rivals/go"));
    match (built("Go's", &mut command)?, asked_for) {
        (Ok(()), _) => Ok(Some(program)),
        // No Go, no rival; what was asked for by name has to be there.
        (Err(_), None) => Ok(None),
        (Err(error), Some(go)) => Err(format!("FILCH_GO: {}: {error}", go.display()).into()),
    }
}

/// Builds Erlang's side, where `erlc` is in the path. Where its modules are.
pub(super) fn beam() -> Result<Option<PathBuf>> {
    let modules = target_directory("beam-rival");
    fs::create_dir_all(&modules)?;
    let mut command = Command::new("erlc");
    command
        .arg("-o")
        .arg(&modules)
        .arg(root().join("benches/rivals/beam/filch_rival.erl"));
    // No Erlang, no rival.
    Ok(built("Erlang's", &mut command)?.is_ok().then_some(modules))
}

/// Builds the programs of `examples/rayon` on rayon's core and on ours. The folder that has both.
pub(super) fn on_rayon() -> Result<PathBuf> {
    let folder = target_directory("rayon-programs");
    for core in ["rayon", "filch"] {
        let place = folder.join(core);
        programs::copy(&place, core == "filch")?;
        let mut build = cargo();
        build
            .args(["build", "--quiet", "--release", "--bin", "programs"])
            .current_dir(&place)
            .env("CARGO_TARGET_DIR", place.join("target"));
        if !build.status()?.success() {
            return Err(format!("the programs do not build on {core}").into());
        }
    }
    Ok(folder)
}

/// Runs the compiler of one side; why not, if it is not there.
fn built(whose: &str, command: &mut Command) -> Result<io::Result<()>> {
    match command.status() {
        Ok(status) if status.success() => Ok(Ok(())),
        Ok(_) => Err(format!("{whose} side of the comparisons does not compile").into()),
        Err(error) => Ok(Err(error)),
    }
}
