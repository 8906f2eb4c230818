//! Test programs: built by cargo, run by us.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::error::Result;

/// Builds what `cargo_test`, a `cargo test` command, would run, and returns the name and the path
/// of each integration test, sorted.
pub(crate) fn build(cargo_test: &mut Command) -> Result<Vec<(String, PathBuf)>> {
    cargo_test.args(["--no-run", "--message-format", "json-render-diagnostics"]);
    let output = cargo_test.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err("the tests do not compile".into());
    }
    let mut programs = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        programs.extend(test_program(&serde_json::from_str(line)?));
    }
    programs.sort();
    Ok(programs)
}

/// Reads one of cargo's messages; `None` unless it announces an integration test.
fn test_program(message: &Value) -> Option<(String, PathBuf)> {
    let target = &message["target"];
    let is_test = target["kind"].as_array()?.iter().any(|kind| kind == "test");
    let executable = message["executable"].as_str()?;
    let name = target["name"].as_str()?;
    is_test.then(|| (name.to_owned(), PathBuf::from(executable)))
}
