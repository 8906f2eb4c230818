//! Runs this program under callgrind, and reads the count.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Result;

/// The function in which an operation's instructions are counted.
const COUNTED: &str = "*instructions*::counted*";

/// Instructions of the counted rounds of an operation.
pub(crate) fn operation(name: &str) -> Result<u64> {
    let instructions = count(&[&format!("--toggle-collect={COUNTED}")], &["--run", name])?;
    if instructions == 0 {
        return Err("callgrind did not find the function in which it counts".into());
    }
    Ok(instructions)
}

/// Instructions of a whole run that does a job `times` times, on all threads.
pub(crate) fn everything(name: &str, times: u64) -> Result<u64> {
    count(&[], &["--run", name, "--times", &times.to_string()])
}

fn count(options: &[&str], arguments: &[&str]) -> Result<u64> {
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join("callgrind.out");
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", output.display()))
        .args(options)
        .arg(env::current_exe()?)
        .args(arguments)
        .stdout(Stdio::null())
        .status()
        .map_err(|error| format!("valgrind: {error}"))?;
    if !status.success() {
        return Err(format!("valgrind {arguments:?}: {status}").into());
    }
    let counts = fs::read_to_string(output)?;
    let total = counts
        .lines()
        .find_map(|line| line.strip_prefix("totals: "));
    let total = total.ok_or("callgrind wrote no total")?;
    Ok(total.trim().parse()?)
}
