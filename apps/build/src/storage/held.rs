//! The lock of a folder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::index::Index;

/// The multiples in which it is noted how much the entries take.
const NOTED: u64 = 16 << 20;

/// The folder's lock. The file says the most that the entries take: should this process be killed,
/// the next one knows it at once.
#[derive(Debug)]
pub(super) struct Held(File);

impl Held {
    /// Takes the lock; also returns what the last process has noted.
    pub(super) fn take(folder: &Path) -> io::Result<(Self, Option<u64>)> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(folder.join("lock"))?;
        file.try_lock().map_err(|error| match error {
            fs::TryLockError::Error(error) => error,
            fs::TryLockError::WouldBlock => {
                io::Error::new(ErrorKind::ResourceBusy, "another process uses this folder")
            }
        })?;
        let mut noted = String::new();
        file.read_to_string(&mut noted)?;
        Ok((Self(file), noted.trim().parse().ok()))
    }

    /// Notes that the entries will take so many bytes at most, and some more, to be noted rarely.
    pub(super) fn note(&self, index: &mut Index, bytes: u64) -> io::Result<()> {
        let bytes = bytes.next_multiple_of(NOTED);
        // As long as the last one, so that it takes its place.
        self.0
            .write_all_at(format!("{bytes:020}\n").as_bytes(), 0)?;
        index.noted = bytes;
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Closing it would not do: a process that is being started at this moment has the file open
        // as well, until it executes its program.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::Held;

    #[test]
    fn a_folder_is_free_at_once_even_if_a_process_is_being_started() {
        let folder = tempfile::tempdir().unwrap();
        let (held, _) = Held::take(folder.path()).unwrap();
        // The copy that such a process has between `fork` and `exec`.
        let inherited = held.0.try_clone().unwrap();
        Held::take(folder.path()).unwrap_err();
        drop(held);
        Held::take(folder.path()).unwrap();
        drop(inherited);
    }
}
