//! Programs written by others, as `.ci/clients` installs them.

use std::env;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};

/// Finds Bazel 2.1.0, of the npm package `@bazel/bazel-linux_x64`.
pub(crate) fn bazel() -> Option<PathBuf> {
    from_npm("@bazel/bazel-linux_x64/bazel-2.1.0-linux-x86_64")
}

/// Finds moon, of the npm package `@moonrepo/core-linux-x64-gnu`.
pub(crate) fn moon() -> Option<PathBuf> {
    from_npm("@moonrepo/core-linux-x64-gnu/moon")
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

/// Reports on the terminal, as output of `eprintln` is hidden if the test passes.
fn missing(program: &str) -> Option<PathBuf> {
    let line = format!("SKIPPED: there is no {program}; .ci/clients installs it\n");
    let _ = stderr().write_all(line.as_bytes());
    None
}
