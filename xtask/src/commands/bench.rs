//! `cargo xtask bench`: builds the comparisons in release and runs them.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Args;

use crate::support::error::Result;
use crate::support::process::{cargo, root, target_directory};
use crate::support::tally::Tally;

#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// Passed to `filch-benches`: --quick, --group GROUP, --workers 1,2,4, --json FILE, --help, …
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let mut command = cargo();
    command.args([
        "run",
        "--quiet",
        "--release",
        "--package",
        "filch-benches",
        "--",
    ]);
    align_branches(&mut command);
    if let Some(rival) = go_rival()? {
        command.env("FILCH_GO_RIVAL", rival);
    }
    if let Some(rival) = beam_rival()? {
        command.env("FILCH_BEAM_RIVAL", rival);
    }
    // The caller's directory, so that `--json FILE` is where they expect it.
    command
        .args(&options.arguments)
        .current_dir(std::env::current_dir()?);
    Ok(Tally::of(command.status()?.success()).exit_code())
}

/// Keeps jumps within 32 bytes of code, ours and the rivals'. Intel's processors from Skylake to
/// Cascade Lake decode one that does not fit anew each time (erratum SKX102). So the place where a
/// linker puts a function would decide rows of few nanoseconds: one took 7.2 ns, and 5.3 with this.
/// In a directory of its own, as all is built anew.
fn align_branches(command: &mut Command) {
    if std::env::consts::ARCH == "x86_64" && std::env::var_os("RUSTFLAGS").is_none() {
        command
            .env(
                "RUSTFLAGS",
                "-Cllvm-args=-x86-branches-within-32B-boundaries",
            )
            .env("CARGO_TARGET_DIR", target_directory("bench"));
    }
}

/// Builds Go's side of the comparisons, where there is a Go toolchain: `go` in the path, or what
/// `FILCH_GO` says.
fn go_rival() -> Result<Option<PathBuf>> {
    let asked_for = std::env::var_os("FILCH_GO");
    let go = asked_for.clone().unwrap_or_else(|| "go".into());
    let program = target_directory("go-rival").join("filch-go-rival");
    let mut command = Command::new(&go);
    command
        .args(["build", "-o"])
        .arg(&program)
        .arg(".")
        .current_dir(root().join("benches/go"));
    match (built("Go's", &mut command)?, asked_for) {
        (Ok(()), _) => Ok(Some(program)),
        // No Go, no rival; what was asked for by name has to be there.
        (Err(_), None) => Ok(None),
        (Err(error), Some(go)) => Err(format!("FILCH_GO: {}: {error}", go.display()).into()),
    }
}

/// Builds Erlang's side, where `erlc` is in the path. Where its modules are.
fn beam_rival() -> Result<Option<PathBuf>> {
    let modules = target_directory("beam-rival");
    fs::create_dir_all(&modules)?;
    let mut command = Command::new("erlc");
    command
        .arg("-o")
        .arg(&modules)
        .arg(root().join("benches/beam/filch_rival.erl"));
    // No Erlang, no rival.
    Ok(built("Erlang's", &mut command)?.is_ok().then_some(modules))
}

/// Runs the compiler of one side; why not, if it is not there.
fn built(whose: &str, command: &mut Command) -> Result<io::Result<()>> {
    match command.status() {
        Ok(status) if status.success() => Ok(Ok(())),
        Ok(_) => Err(format!("{whose} side of the comparisons does not compile").into()),
        Err(error) => Ok(Err(error)),
    }
}
