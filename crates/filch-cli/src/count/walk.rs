//! Finds the files to count.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use walkdir::{DirEntry, WalkDir};

use super::opened::{Entry, Skip, Source};

/// The files to count, and those that cannot be counted.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) entries: Vec<Entry>,
    pub(crate) skipped: Vec<Skip>,
}

/// Looks for files, in the order of the roots and of their names. Takes named paths as they are;
/// skips hidden folders, caches and links under them.
pub(crate) fn walk(roots: &[Source]) -> Found {
    let mut found = Found::default();
    for root in roots {
        let looked_at = match root {
            Source::Input => {
                found.add_input();
                Ok(())
            }
            Source::Named(path) | Source::Found(path) => found.add_root(root, path),
        };
        if let Err(error) = looked_at {
            found.skip(root.clone(), error.to_string());
        }
    }
    found
}

impl Found {
    /// Adds standard input; after the first time, it is at its end.
    fn add_input(&mut self) {
        let input = Entry {
            source: Source::Input,
            is_file: false,
        };
        if !self.entries.contains(&input) {
            self.entries.push(input);
        }
    }

    fn add_root(&mut self, root: &Source, path: &Path) -> io::Result<()> {
        let metadata = fs::metadata(path)?;
        if metadata.is_dir() {
            // Reported here: an unreadable root would look like an empty folder otherwise.
            fs::read_dir(path)?;
            self.add_folder(path);
        } else if metadata.is_file() || is_pipe(&metadata) {
            self.entries.push(Entry {
                source: root.clone(),
                is_file: metadata.is_file(),
            });
        } else {
            let reason = "neither a folder, a regular file nor a pipe";
            self.skip(root.clone(), reason.to_owned());
        }
        Ok(())
    }

    fn add_folder(&mut self, folder: &Path) {
        let entries = WalkDir::new(folder)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|entry| entry.depth() == 0 || !is_passed_by(entry));
        for entry in entries {
            match entry {
                Ok(entry) if entry.file_type().is_file() => {
                    self.entries.push(Entry {
                        source: Source::Found(entry.into_path()),
                        is_file: true,
                    });
                }
                Ok(entry) if entry.file_type().is_dir() || entry.file_type().is_symlink() => {}
                Ok(entry) => {
                    let source = Source::Found(entry.into_path());
                    self.skip(source, "not a regular file".to_owned());
                }
                Err(error) => {
                    let path = error.path().unwrap_or(folder).to_owned();
                    let reason = match error.io_error() {
                        Some(error) => error.to_string(),
                        None => error.to_string(),
                    };
                    self.skip(Source::Found(path), reason);
                }
            }
        }
    }

    fn skip(&mut self, source: Source, reason: String) {
        self.skipped.push(Skip { source, reason });
    }
}

#[cfg(unix)]
fn is_pipe(metadata: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&metadata.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}

fn is_passed_by(entry: &DirEntry) -> bool {
    entry.file_type().is_dir() && (is_hidden(entry) || is_cache(entry.path()))
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

/// Returns whether the folder is marked as the Cache Directory Tagging Specification says: by a
/// file that begins with the signature.
fn is_cache(folder: &Path) -> bool {
    const SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";
    let tag = folder.join("CACHEDIR.TAG");
    if !fs::symlink_metadata(&tag).is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut begin = [0; SIGNATURE.len()];
    File::open(tag)
        .and_then(|mut tag| tag.read_exact(&mut begin))
        .is_ok()
        && begin == SIGNATURE
}
