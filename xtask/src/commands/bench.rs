//! `cargo xtask bench`: builds the comparisons as they are measured and runs them, or what is made
//! of stored runs. They are a workspace of their own, `benches/rivals`.

mod carry;
mod hello;
mod rivals;

use std::process::{Command, ExitCode};

use clap::Args;

use crate::commands::beside::Beside;
use crate::support::error::Result;
use crate::support::process::root;
use crate::support::tally::Tally;

#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// --quick, --group GROUP, --report FOLDER, --compare BEFORE AFTER, …: --help says all.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(Options { arguments }: &Options) -> Result<ExitCode> {
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["--hello"] => hello::run()?,
        ["--carry", file] => carry::build(file.as_ref())?,
        ["--compare" | "--tables", ..] => {
            let mut command = program("rivals", "filch-report");
            return ended(command.arg("--").args(words));
        }
        _ => return measure(&words),
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(arguments: &[&str]) -> Result<ExitCode> {
    let mut command = program("bench", "filch-benches");
    command
        .args(["--profile", "measured", "--"])
        .args(arguments);
    if let Some(flag) = aligned_branches() {
        command.env("RUSTFLAGS", flag);
    }
    if let Some(rival) = rivals::go()? {
        command.env("FILCH_GO_RIVAL", rival);
    }
    if let Some(rival) = rivals::beam()? {
        command.env("FILCH_BEAM_RIVAL", rival);
    }
    if wants_rayon(arguments) {
        command.env("FILCH_RAYON_PROGRAMS", rivals::on_rayon()?);
    }
    ended(&mut command)
}

/// True if the group of rayon's programs is among those that are asked for, or all are.
fn wants_rayon(arguments: &[&str]) -> bool {
    let joined = arguments.join(" ").replace('=', " ");
    let words: Vec<_> = joined.split(' ').collect();
    let mut groups = words
        .windows(2)
        .filter(|pair| pair[0] == "--group")
        .peekable();
    groups.peek().is_none() || groups.any(|pair| pair[1] == "rayon")
}

/// Runs a program of that workspace, built in `target/DIRECTORY`.
fn program(directory: &str, package: &str) -> Command {
    let mut command = Beside::Rivals.cargo_into(directory);
    command
        .args(["run", "--quiet", "--package", package, "--manifest-path"])
        .arg(root().join("benches/rivals/Cargo.toml"));
    // The caller's directory, so that what is written is where they expect it.
    if let Ok(here) = std::env::current_dir() {
        command.current_dir(here);
    }
    command
}

fn ended(command: &mut Command) -> Result<ExitCode> {
    Ok(Tally::of(command.status()?.success()).exit_code())
}

/// Keeps jumps within 32 bytes of code, ours and the rivals', unless the caller has flags of their
/// own. Intel's processors from Skylake to Cascade Lake decode one that does not fit anew each time
/// (erratum SKX102). So the place where a linker puts a function would decide rows of few
/// nanoseconds: one took 7.2 ns, and 5.3 with this.
fn aligned_branches() -> Option<&'static str> {
    let applies = std::env::consts::ARCH == "x86_64" && std::env::var_os("RUSTFLAGS").is_none();
    applies.then_some("-Cllvm-args=-x86-branches-within-32B-boundaries")
}
