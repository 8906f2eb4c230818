//! The program, and its output.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Returns the command that runs the program there, and keeps its output.
pub(crate) fn command(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_filch"));
    command.args(arguments).current_dir(folder);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(crate) fn filch(arguments: &[&str], folder: &Path) -> Output {
    let mut command = command(arguments, folder);
    command.stdin(Stdio::null()).output().unwrap()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// As [`filch`], with a reader that closes before anything is written.
pub(crate) fn filch_unread(arguments: &[&str], folder: &Path) -> Output {
    let mut child = command(arguments, folder).spawn().unwrap();
    drop(child.stdout.take());
    child.wait_with_output().unwrap()
}

/// Returns the message of a failure with that exit code, which prints nothing else.
#[track_caller]
pub(crate) fn failure(arguments: &[&str], folder: &Path, code: i32) -> String {
    let output = filch(arguments, folder);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    assert_eq!(stdout(&output), "", "{arguments:?}");
    stderr(&output)
}

/// Returns the value of a line of the report, such as `files           3`.
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

/// Checks that no line is wider.
#[track_caller]
pub(crate) fn assert_fits(report: &str, width: usize) {
    let too_wide = report.lines().find(|line| line.chars().count() > width);
    assert_eq!(too_wide, None, "in:\n{report}");
}
