//! Copies of the tree in which mutants are built, one per processor, so that they are at work at
//! the same time.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use crate::support::error::Result;
use crate::support::process::{Tree, root};

/// Brings a copy per processor up to date, in `target/orderings`; what has not changed keeps its
/// time stamp.
pub(super) fn make() -> Result<Vec<Tree>> {
    let mut list = Command::new("git");
    list.args(["ls-files", "--cached", "--others", "--exclude-standard"]);
    let listed = String::from_utf8(list.current_dir(root()).output()?.stdout)?;
    let place = root().join("target/orderings");
    // What was copied last time and is gone by now must go: cargo finds test files by looking.
    let record = place.join("files");
    let old = fs::read_to_string(&record).unwrap_or_default();
    let gone: Vec<_> = old
        .lines()
        .filter(|name| !root().join(name).exists())
        .collect();
    let mut copies = Vec::new();
    for number in 0..thread::available_parallelism()?.get() {
        let copy = Tree {
            root: place.join(format!("tree-{number}")),
            target: place.join(format!("build-{number}")),
        };
        for name in &gone {
            let _ = fs::remove_file(copy.root.join(name));
        }
        for name in listed.lines() {
            copy_file(&root().join(name), &copy.root.join(name))?;
        }
        copies.push(copy);
    }
    fs::write(record, listed)?;
    Ok(copies)
}

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    let Ok(contents) = fs::read(from) else {
        // Deleted, and the deletion is not committed.
        return Ok(());
    };
    if fs::read(to).is_ok_and(|old| old == contents) {
        return Ok(());
    }
    if let Some(directory) = to.parent() {
        fs::create_dir_all(directory)?;
    }
    fs::write(to, contents)?;
    Ok(())
}
