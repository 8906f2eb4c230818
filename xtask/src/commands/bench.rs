//! `cargo xtask bench`: builds the comparisons as they are measured and runs them, or what is made
//! of stored runs. They are a workspace of their own, `benches/rivals`. And `cargo xtask soak`:
//! schedulers under faults of all kinds.

mod rivals;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use clap::Args;

use crate::support::Result;
use crate::support::process::{Tree, cargo_in, git};
use crate::support::tally::Tally;

/// The arguments of a program, which explains them by `--help`.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Passed {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Runs the package `soak`, optimised, with every assertion, as the models are.
pub(crate) fn soak(Passed { arguments }: &Passed) -> Result<ExitCode> {
    let mut command = program("", "soak");
    ended(command.args(["--profile", "loom", "--"]).args(arguments))
}

pub(crate) fn run(Passed { arguments }: &Passed) -> Result<ExitCode> {
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["--carry", file] => carry(file.as_ref()),
        ["--compare" | "--tables", ..] => {
            let mut command = program("rivals", "filch-report");
            ended(command.arg("--").args(words))
        }
        _ => measure(&words),
    }
}

fn measure(arguments: &[&str]) -> Result<ExitCode> {
    let mut command = program("bench", "filch-benches");
    command.args(["--profile", "measured", "--"]);
    command.args(arguments);
    command.envs(aligned_branches().map(|flag| ("RUSTFLAGS", flag)));
    command.envs(rivals::go("go")?.map(|rival| ("FILCH_GO_RIVAL", rival)));
    // This one Go has to fetch; the other comparisons do without it.
    let original = rivals::go("original").ok().flatten();
    command.envs(original.map(|rival| ("FILCH_ORIGINAL_RIVAL", rival)));
    command.envs(rivals::beam()?.map(|rival| ("FILCH_BEAM_RIVAL", rival)));
    if wants_rayon(arguments) {
        command.env("FILCH_RAYON_PROGRAMS", rivals::on_rayon()?);
    }
    ended(&mut command)
}

/// True if the group of rayon's programs is among those that are asked for, or all are.
fn wants_rayon(arguments: &[&str]) -> bool {
    let joined = arguments.join("=");
    let words: Vec<_> = joined.split('=').collect();
    let pairs = words.windows(2).filter(|pair| pair[0] == "--group");
    let groups: Vec<_> = pairs.map(|pair| pair[1]).collect();
    groups.is_empty() || groups.contains(&"rayon")
}

/// Runs a program of the tree of that [name](Tree::named).
fn program(tree: &str, package: &str) -> Command {
    let mut command = cargo_in(tree);
    let manifest = Tree::named(tree).root.join("Cargo.toml");
    command.args(["run", "--quiet", "--package", package]);
    command.arg("--manifest-path").arg(manifest);
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

/// Builds the program as one file, for a machine that has neither cargo nor this repository: linked
/// with everything that it needs, and knowing the commit that it was built at.
fn carry(file: &Path) -> Result<ExitCode> {
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
    println!("{}: `--report` stores every group", file.display());
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::wants_rayon;

    #[test]
    fn only_the_groups_are_looked_at() {
        assert!(wants_rayon(&["--rounds", "6"]));
        assert!(wants_rayon(&["--group", "deque", "--group=rayon"]));
        assert!(!wants_rayon(&["--group", "deque", "--report", "rayon"]));
    }
}
