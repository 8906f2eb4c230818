//! Test programs and examples: built by cargo, run by us.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::error::Result;

/// What a program is made from.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// A file in `tests`.
    Test,
    /// The same, or the tests within a library.
    AnyTest,
    /// A file in `examples`.
    Example,
}

/// Runs `cargo`, which builds and does not run, and returns the name and the path of each program
/// of that kind, sorted.
pub(crate) fn build(cargo: &mut Command, kind: Kind) -> Result<Vec<(String, PathBuf)>> {
    cargo.args(["--message-format", "json-render-diagnostics"]);
    let output = cargo.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err("the programs do not compile".into());
    }
    let mut programs = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        programs.extend(program(&serde_json::from_str(line)?, kind));
    }
    programs.sort();
    Ok(programs)
}

/// The names of the tests in a test program.
pub(crate) fn tests(program: &Path) -> Result<Vec<String>> {
    let listing = Command::new(program)
        .args(["--list", "--format", "terse"])
        .output()?;
    if !listing.status.success() {
        return Err(format!("{} does not list its tests", program.display()).into());
    }
    let text = String::from_utf8(listing.stdout)?;
    let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
    Ok(names.map(str::to_owned).collect())
}

/// Reads one of cargo's messages; `None` unless it announces a program of that kind.
fn program(message: &Value, kind: Kind) -> Option<(String, PathBuf)> {
    let target = &message["target"];
    let wanted: &[_] = match kind {
        Kind::Test => &["test"],
        Kind::AnyTest => &["test", "lib"],
        Kind::Example => &["example"],
    };
    let mut kinds = target["kind"].as_array()?.iter().filter_map(Value::as_str);
    let is_wanted = kinds.any(|kind| wanted.contains(&kind));
    let executable = message["executable"].as_str()?;
    let name = target["name"].as_str()?;
    is_wanted.then(|| (name.to_owned(), PathBuf::from(executable)))
}
