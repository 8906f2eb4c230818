//! Copies of the tree, in which mutants are built.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::Result;
use super::process::{known_files, root};

/// Brings `trees` up to date, which are folders of `target/NAME`; what has not changed keeps its
/// time stamp. A file of `instead` has that text there.
pub(crate) fn make(
    name: &str,
    trees: &[PathBuf],
    instead: &BTreeMap<PathBuf, String>,
) -> Result<()> {
    let listed = known_files()?;
    // What was copied last time and is gone by now must go: cargo finds test files by looking.
    let record = root().join("target").join(name).join("files");
    let old = fs::read_to_string(&record).unwrap_or_default();
    let is_gone = |name: &&str| !root().join(name).exists();
    for tree in trees {
        for name in old.lines().filter(is_gone) {
            let _ = fs::remove_file(tree.join(name));
        }
        for name in listed.lines() {
            match instead.get(Path::new(name)) {
                Some(text) => write(text.as_bytes(), &tree.join(name))?,
                None => {
                    // One that was deleted, and the deletion is not committed, is not copied.
                    if let Ok(contents) = fs::read(root().join(name)) {
                        write(&contents, &tree.join(name))?;
                    }
                }
            }
        }
        for (name, text) in instead {
            write(text.as_bytes(), &tree.join(name))?;
        }
    }
    fs::write(record, listed)?;
    Ok(())
}

/// Writes a file, unless that is what it has: cargo builds again what is newer than its build.
pub(crate) fn write(contents: &[u8], to: &Path) -> Result<()> {
    if fs::read(to).is_ok_and(|old| old == contents) {
        return Ok(());
    }
    if let Some(directory) = to.parent() {
        fs::create_dir_all(directory)?;
    }
    fs::write(to, contents)?;
    Ok(())
}
