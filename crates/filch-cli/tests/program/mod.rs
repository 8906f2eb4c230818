//! The program, and what it says.

use std::path::Path;
use std::process::{Command, Output, Stdio};

pub(crate) fn filch(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_filch"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The value of a line of the report, such as `files           3`.
#[track_caller]
pub(crate) fn figure(output: &Output, name: &str) -> String {
    let report = stdout(output);
    report
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .unwrap_or_else(|| panic!("no line `{name}` in:\n{report}{}", stderr(output)))
        .trim()
        .to_owned()
}
