//! Finds the files to count.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::CountError;
use super::protocol::Skip;

/// The regular files under a folder, in the order of their names, and what cannot be counted.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) skipped: Vec<Skip>,
}

/// Looks for files. The path that the user named is taken as it is; hidden folders, caches and
/// links under it are passed by.
pub(crate) fn walk(root: &Path) -> Result<Found, CountError> {
    let metadata = fs::metadata(root).map_err(|error| CountError::Root(root.to_owned(), error))?;
    let mut found = Found::default();
    if metadata.is_file() {
        found.files.push(root.to_owned());
        return Ok(found);
    }
    if !metadata.is_dir() {
        return Err(CountError::NeitherFileNorFolder(root.to_owned()));
    }
    // Reported here: an unreadable root would look like an empty folder otherwise.
    fs::read_dir(root).map_err(|error| CountError::Root(root.to_owned(), error))?;
    let entries = WalkDir::new(root)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !is_passed_by(entry));
    for entry in entries {
        match entry {
            Ok(entry) if entry.file_type().is_file() => found.files.push(entry.into_path()),
            Ok(entry) if entry.file_type().is_dir() || entry.file_type().is_symlink() => {}
            Ok(entry) => found.skipped.push(Skip {
                path: entry.into_path(),
                reason: "not a regular file".to_owned(),
            }),
            Err(error) => {
                let path = error.path().unwrap_or(root).to_owned();
                let reason = match error.io_error() {
                    Some(error) => error.to_string(),
                    None => error.to_string(),
                };
                found.skipped.push(Skip { path, reason });
            }
        }
    }
    Ok(found)
}

fn is_passed_by(entry: &DirEntry) -> bool {
    entry.file_type().is_dir() && (is_hidden(entry) || is_cache(entry.path()))
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

/// Whether the folder is marked as the Cache Directory Tagging Specification says: by a file that
/// begins with the signature.
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
