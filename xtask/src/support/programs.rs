//! Test programs and examples: built by cargo, run by us.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::error::Result;

/// Runs `cargo`, which builds and does not run, and returns the name and the path of each program
/// made from one of these kinds of targets, sorted.
pub(crate) fn build(cargo: &mut Command, kinds: &[&str]) -> Result<Vec<(String, PathBuf)>> {
    cargo.args(["--message-format", "json-render-diagnostics"]);
    let output = cargo.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err("the programs do not compile".into());
    }
    let mut programs = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        programs.extend(program(&serde_json::from_str(line)?, kinds));
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

/// Reads one of cargo's messages; `None` unless it announces a program of these kinds.
fn program(message: &Value, kinds: &[&str]) -> Option<(String, PathBuf)> {
    let target = &message["target"];
    let mut own = target["kind"].as_array()?.iter().filter_map(Value::as_str);
    let is_wanted = own.any(|kind| kinds.contains(&kind));
    let executable = message["executable"].as_str()?;
    let name = target["name"].as_str()?;
    is_wanted.then(|| (name.to_owned(), PathBuf::from(executable)))
}
