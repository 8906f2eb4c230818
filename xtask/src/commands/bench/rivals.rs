//! The rivals in programs of their own: those outside Rust, built where there are their compilers,
//! and those on rayon.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::commands::rayon::{copy_programs, on_ours};
use crate::support::Result;
use crate::support::process::{cargo, root, target_directory};

/// Builds a program in Go, where there is its toolchain: `go` in the path, or what `FILCH_GO` says.
pub(super) fn go(folder: &str) -> Result<Option<PathBuf>> {
    let asked_for = std::env::var_os("FILCH_GO");
    let program = target_directory("go-rival").join(folder);
    let source = root().join("benches/rivals").join(folder);
    // Go notes what it has fetched in the module's file: in a copy.
    let module = program.with_extension("mod");
    fs::create_dir_all(target_directory("go-rival"))?;
    fs::copy(source.join("go.mod"), &module)?;
    let mut go = Command::new(asked_for.as_deref().unwrap_or("go".as_ref()));
    go.args(["build", "-mod=mod", "-modfile"]).arg(&module);
    go.arg("-o").arg(&program).arg(".").current_dir(source);
    if built(&mut go)? {
        return Ok(Some(program));
    }
    // What was asked for by name has to be there.
    match asked_for {
        Some(name) => Err(format!("FILCH_GO: there is no {}", name.display()).into()),
        None => Ok(None),
    }
}

/// Builds Erlang's side, where `erlc` is in the path. Where its modules are.
pub(super) fn beam() -> Result<Option<PathBuf>> {
    let modules = target_directory("beam-rival");
    fs::create_dir_all(&modules)?;
    let mut erlc = Command::new("erlc");
    erlc.arg("-o").arg(&modules);
    erlc.arg(root().join("benches/rivals/beam/filch_rival.erl"));
    Ok(built(&mut erlc)?.then_some(modules))
}

/// Runs the compiler of one side, if it is there: without it, there is no such rival.
fn built(compiler: &mut Command) -> Result<bool> {
    match compiler.status() {
        Ok(status) if status.success() => Ok(true),
        Ok(_) => Err(format!("{compiler:?} has failed").into()),
        Err(_) => Ok(false),
    }
}

/// Builds the programs of `examples/rayon` on rayon's core and on ours. The folder that has both.
pub(super) fn on_rayon() -> Result<PathBuf> {
    let folder = target_directory("rayon-programs");
    for core in ["rayon", "filch"] {
        let place = folder.join(core);
        copy_programs(&place)?;
        let mut build = cargo();
        if core == "filch" {
            build.args(on_ours());
        }
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
