//! The places where unsafe code may stand: only the files that `xtask/unsafe.toml` lists.
//!
//! Tests and models are not listed: each model owns cells whose exclusive use is its claim.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

use super::Finding;
use crate::support::Result;
use crate::support::code::{has_word, is_for_tests, shipped};
use crate::support::process::root;

/// The folders, their files, and what these need it for.
const LISTED: &str = "xtask/unsafe.toml";

#[derive(Deserialize)]
struct Folder {
    files: Vec<String>,
}

/// Finds what is unsafe and not listed, listed and not unsafe, and what the compiler is not told.
pub(super) fn check(files: &[PathBuf]) -> Result<Vec<Finding>> {
    let text = fs::read_to_string(root().join(LISTED))?;
    let folders: BTreeMap<PathBuf, Folder> = toml::from_str(&text)?;
    let listed = folders.iter().flat_map(|(path, folder)| {
        let files = folder.files.iter();
        files.map(move |file| path.join(file))
    });
    let listed: BTreeSet<_> = listed.collect();
    let (mut findings, mut found) = (Vec::new(), BTreeSet::new());
    for file in files {
        let is_left_out = is_for_tests(file) || file.starts_with("loom-tests");
        if is_left_out || file.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = fs::read_to_string(root().join(file))?;
        if has_word(shipped(&text)?, "unsafe") {
            found.insert(file.clone());
        }
        // The root of a library or a program.
        let folder = file.parent().unwrap_or(file);
        let is_below = |of: &&str| file.starts_with(of);
        let is_library = ["apps", "crates", "compat"].iter().any(is_below);
        let is_root = file.ends_with("src/lib.rs") || file.ends_with("src/main.rs");
        let has_some = || listed.iter().any(|other| other.starts_with(folder));
        if is_library && is_root && !has_some() && !text.contains("#![forbid(unsafe_code)]") {
            let message = "has no unsafe code, and does not forbid it";
            findings.push(Finding::of(file, message));
        }
    }
    let wrong = |file: &PathBuf, what| Finding::of(file, format!("{what} {LISTED}"));
    let unlisted = found.difference(&listed);
    findings.extend(unlisted.map(|file| wrong(file, "has unsafe code, and is not listed in")));
    let idle = listed.difference(&found);
    findings.extend(idle.map(|file| wrong(file, "has no unsafe code, and is listed in")));
    Ok(findings)
}
