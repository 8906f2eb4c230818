//! The programs of others, as `.ci/clients` installs them.

use std::env;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};

/// Bazel 2.1.0, of the npm package `@bazel/bazel-linux_x64`.
pub(crate) fn bazel() -> Option<PathBuf> {
    from_npm("@bazel/bazel-linux_x64/bazel-2.1.0-linux-x86_64")
}

/// moon, of the npm package `@moonrepo/core-linux-x64-gnu`.
pub(crate) fn moon() -> Option<PathBuf> {
    from_npm("@moonrepo/core-linux-x64-gnu/moon")
}

/// A program of the system: `nginx`, `chromium`, `gcc`.
pub(crate) fn of_the_system(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<_> = env::split_paths(&path).collect();
    // Where Debian has its servers, which are not in everybody's PATH.
    places.push("/usr/sbin".into());
    let found = places.iter().map(|place| place.join(name));
    found
        .into_iter()
        .find(|program| program.is_file())
        .or_else(|| missing(name))
}

/// Where `.ci/clients` puts what npm and cargo bring. Programs may keep there what they unpack.
pub(crate) fn folder() -> PathBuf {
    let place = env::var_os("FILCH_CLIENTS").map(PathBuf::from);
    place.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/clients"))
}

fn from_npm(program: &str) -> Option<PathBuf> {
    in_the_folder(&format!("node_modules/{program}"))
}

/// A program in [`folder`].
pub(crate) fn in_the_folder(program: &str) -> Option<PathBuf> {
    let program = folder().join(program);
    if program.is_file() {
        Some(program)
    } else {
        missing(&program.display().to_string())
    }
}

/// Says so on the terminal: what a test that passes prints by `eprintln` is not shown.
fn missing(program: &str) -> Option<PathBuf> {
    let line = format!("SKIPPED: there is no {program}; .ci/clients installs it\n");
    let _ = stderr().write_all(line.as_bytes());
    None
}
