//! Walks a folder and counts the lines of all files in it: a tree whose shape nobody knows before,
//! and leaves that read files. Without an argument it walks the crates of this repository.
//!
//! ```sh
//! cargo run --release -p filch-fork-join --example directory_walk [FOLDER]
//! ```

mod compare;

use std::env;
use std::fs;
use std::io;
use std::ops::Add;
use std::path::{Path, PathBuf};

use filch_fork_join::Worker;

/// The totals of what was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    files: usize,
    lines: usize,
}

impl Add for Count {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            files: self.files + other.files,
            lines: self.lines + other.lines,
        }
    }
}

/// The contents of a folder's entry. Links are not followed.
enum Entry {
    Folder(Vec<PathBuf>),
    File(Count),
    Other,
}

fn look(path: &Path) -> io::Result<Entry> {
    let kind = fs::symlink_metadata(path)?.file_type();
    if kind.is_dir() {
        let entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path()));
        return Ok(Entry::Folder(entries.collect::<io::Result<_>>()?));
    }
    if !kind.is_file() {
        return Ok(Entry::Other);
    }
    let text = fs::read(path)?;
    Ok(Entry::File(Count {
        files: 1,
        lines: text.iter().filter(|byte| **byte == b'\n').count(),
    }))
}

fn sequential(path: &Path) -> io::Result<Count> {
    match look(path)? {
        Entry::Folder(entries) => entries
            .iter()
            .try_fold(Count::default(), |sum, entry| Ok(sum + sequential(entry)?)),
        Entry::File(count) => Ok(count),
        Entry::Other => Ok(Count::default()),
    }
}

fn parallel(worker: &Worker, path: &Path) -> io::Result<Count> {
    match look(path)? {
        Entry::Folder(entries) => all(worker, &entries),
        Entry::File(count) => Ok(count),
        Entry::Other => Ok(Count::default()),
    }
}

/// Half of the entries beside the other half.
fn all(worker: &Worker, entries: &[PathBuf]) -> io::Result<Count> {
    match entries {
        [] => Ok(Count::default()),
        [entry] => parallel(worker, entry),
        _ => {
            let (left, right) = entries.split_at(entries.len() / 2);
            let (left, right) = worker.join(|w| all(w, left), |w| all(w, right));
            Ok(left? + right?)
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let crates = || Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = env::args_os()
        .nth(1)
        .map_or_else(crates, PathBuf::from)
        .canonicalize()?;
    let pool = compare::pool()?;
    let what = format!("lines of all files in {}", folder.display());
    // An error has no equality: its text has.
    let text = |count: io::Result<Count>| count.map_err(|error| error.to_string());
    let count = compare::compare(
        &what,
        &pool,
        || text(sequential(&folder)),
        |worker| text(parallel(worker, &folder)),
    )?;
    println!("  {} lines in {} files", count.lines, count.files);
    Ok(())
}
