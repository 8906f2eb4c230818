//! The places where unsafe code may stand: only the files that `xtask/unsafe.toml` lists.
//!
//! Tests and models are not listed: each model owns cells whose exclusive use is its claim.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::finding::Finding;
use crate::support::code::{has_word, is_for_tests, shipped};
use crate::support::error::Result;
use crate::support::process::{files_below, root};

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
    let mut findings = Vec::new();
    let mut report = |file: &Path, message: &str| {
        findings.push(Finding {
            file: file.to_owned(),
            line: 1,
            message: message.to_owned(),
        });
    };
    let mut found = BTreeSet::new();
    for file in files {
        let is_left_out = is_for_tests(file) || file.starts_with("loom-tests");
        if is_left_out || file.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = fs::read_to_string(root().join(file))?;
        if has_word(shipped(&text)?, "unsafe") {
            if !listed.contains(file) {
                report(
                    file,
                    "has unsafe code, and is not listed in xtask/unsafe.toml",
                );
            }
            found.insert(file.clone());
        }
    }
    for file in listed.difference(&found) {
        report(
            file,
            "is listed in xtask/unsafe.toml, and has no unsafe code",
        );
    }
    for library in libraries()? {
        let folder = library.parent().unwrap_or(&library);
        let has_some = listed.iter().any(|file| file.starts_with(folder));
        let text = fs::read_to_string(root().join(&library))?;
        if !has_some && !text.contains("#![forbid(unsafe_code)]") {
            report(&library, "has no unsafe code, and does not forbid it");
        }
    }
    Ok(findings)
}

/// The root files of the crates and of the program.
fn libraries() -> Result<Vec<PathBuf>> {
    let files = files_below(root(), &["apps", "crates", "compat"], "rs")?;
    let is_root = |file: &PathBuf| {
        let parts: Vec<_> = file.iter().skip(2).collect();
        parts == ["src", "lib.rs"] || parts == ["src", "main.rs"]
    };
    Ok(files.into_iter().filter(is_root).collect())
}
