//! Entries as files of a folder.
//!
//! A file is written under a temporary name and renamed, so that nobody sees a half-written one.
//! The rename and the change of the index happen together, under the index's lock.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::SystemTime;

use filch_sync::lock;
use tempfile::{Builder, NamedTempFile};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use super::index::{Change, Index, Kind, Name};
use crate::digest::Digest;

/// Entries as files of a folder; the least recently used ones go first.
#[derive(Debug)]
pub(super) struct Disk {
    root: PathBuf,
    index: Mutex<Index>,
    used: Mutex<Used>,
    _held: Held,
}

/// The folder's lock.
#[derive(Debug)]
struct Held(File);

impl Held {
    fn take(folder: &Path) -> io::Result<Self> {
        let file = File::create(folder.join("lock"))?;
        file.try_lock().map_err(|error| match error {
            fs::TryLockError::Error(error) => error,
            fs::TryLockError::WouldBlock => {
                io::Error::new(ErrorKind::ResourceBusy, "another process uses this folder")
            }
        })?;
        Ok(Self(file))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Closing it would not do: a process that is being started at this moment has the file open
        // as well, until it executes its program.
        let _ = self.0.unlock();
    }
}

impl Disk {
    /// Opens the folder, or makes it, and removes what other processes left half-written.
    pub(super) fn open(root: &Path, limit: u64) -> io::Result<Self> {
        fs::create_dir_all(root)?;
        let held = Held::take(root)?;
        let temporary = root.join(TEMPORARY);
        match fs::remove_dir_all(&temporary) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => fs::create_dir(&temporary)?,
        }
        for byte in 0..=255_u8 {
            fs::create_dir(temporary.join(digits(byte)))?;
        }
        let mut index = Index::new(limit);
        for (name, size) in list(root)? {
            index.insert(name, size);
        }
        let disk = Self {
            root: root.to_owned(),
            index: Mutex::new(index),
            used: Mutex::default(),
            _held: held,
        };
        let excess = disk.take_out_excess(&mut disk.index());
        drop(excess);
        Ok(disk)
    }

    /// Makes a file that will get that name. Dropping it removes it.
    ///
    /// Threads that make files in one folder wait for each other: there are as many as for names.
    pub(super) fn temporary(&self, name: &Name) -> io::Result<NamedTempFile> {
        Builder::new().tempfile_in(self.temporary_folder(name))
    }

    fn temporary_folder(&self, name: &Name) -> PathBuf {
        self.root.join(TEMPORARY).join(digits(name.hash[0]))
    }

    /// Gives a file its name, in place of the file that had that name.
    pub(super) fn keep(&self, file: NamedTempFile, name: Name, size: u64) -> io::Result<()> {
        let path = self.path(&name);
        let excess = {
            let mut index = self.index();
            // Dropped at once, so that not every entry has an open file.
            let _file = file.persist(path).map_err(|error| error.error)?;
            index.insert(name, size);
            self.take_out_excess(&mut index)
        };
        // Removing a large file takes time, so it is done without the lock.
        drop(excess);
        Ok(())
    }

    /// Returns the size of the entry, which counts as used now.
    pub(super) fn size(&self, name: &Name) -> Option<u64> {
        self.index().touch(name)
    }

    /// Opens the entry, which can be read even if it is removed meanwhile.
    pub(super) fn file(&self, name: &Name) -> io::Result<Option<File>> {
        if self.index().touch(name).is_none() {
            return Ok(None);
        }
        let path = self.path(name);
        let mut opened = File::open(&path);
        if is_missing(&opened) {
            // It may have gone and come back: look again under the lock, where nothing changes.
            let mut index = self.index();
            opened = File::open(&path);
            if is_missing(&opened) {
                index.remove(name);
                return Ok(None);
            }
        }
        let file = opened?;
        note_use(&file, SystemTime::now());
        Ok(Some(file))
    }

    /// Reads the whole entry if that needs no waiting: if it is small, and the kernel has it in
    /// memory.
    pub(super) fn read_cached(&self, name: &Name, size: u64) -> Option<Vec<u8>> {
        let size = usize::try_from(size).ok().filter(|size| *size <= SMALL)?;
        let (file, bytes) = read_in_memory(&self.path(name), size)?;
        if let Some(used) = lock(&self.used).push(file) {
            // Nobody waits for this.
            spawn_blocking(move || drop(used));
        }
        Some(bytes)
    }

    /// Removes the entry, if there is one.
    pub(super) fn remove(&self, name: &Name) -> io::Result<()> {
        let mut index = self.index();
        index.remove(name);
        match fs::remove_file(self.path(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the number of entries, and their bytes on the disk.
    pub(super) fn usage(&self) -> (usize, u64) {
        let index = self.index();
        (index.entries(), index.used())
    }

    /// Lists all blobs, the last used one first.
    pub(super) fn blobs(&self) -> Vec<Digest> {
        let index = self.index();
        let blobs = index.iter().filter(|(name, _)| name.kind == Kind::Blob);
        blobs
            .map(|(name, size)| Digest::from_hash(name.hash, size))
            .collect()
    }

    /// Listens for blobs that come and go from now on, in that order. A new listener replaces the
    /// last one.
    pub(super) fn changes(&self) -> mpsc::UnboundedReceiver<Change> {
        self.index().listen()
    }

    /// Moves entries beyond the limit out of their names. Dropping the result removes them.
    ///
    /// An entry that cannot be moved stays; the next entry that comes is a reason to try again.
    fn take_out_excess(&self, index: &mut Index) -> Vec<tempfile::TempPath> {
        let mut excess = Vec::new();
        while let Some((name, size)) = index.pop_excess() {
            let path = self.path(&name);
            let folder = self.temporary_folder(&name);
            match Builder::new().make_in(folder, |hidden| fs::rename(&path, hidden)) {
                Ok(hidden) => excess.push(hidden.into_temp_path()),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    tracing::warn!(path = %path.display(), %error, "the cache cannot forget");
                    index.insert(name, size);
                    break;
                }
            }
        }
        excess
    }

    fn path(&self, name: &Name) -> PathBuf {
        self.root.join(name.path())
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        lock(&self.index)
    }
}

/// The largest read on the spot: copying this much takes no longer than asking a thread for it.
const SMALL: usize = 256 << 10;

const TEMPORARY: &str = "temporary";

fn is_missing(opened: &io::Result<File>) -> bool {
    let error = opened.as_ref().err();
    error.is_some_and(|error| error.kind() == ErrorKind::NotFound)
}

fn digits(byte: u8) -> String {
    format!("{byte:02x}")
}

/// Lists the entries in the order of use; makes missing folders. Leaves files with other names
/// alone.
fn list(root: &Path) -> io::Result<Vec<(Name, u64)>> {
    let mut found = Vec::new();
    for kind in Kind::ALL {
        for byte in 0..=255_u8 {
            let folder = root.join(kind.folder()).join(digits(byte));
            fs::create_dir_all(&folder)?;
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                let file_name = entry.file_name();
                let Ok(digest) = Digest::new(file_name.to_str().unwrap_or_default(), 0) else {
                    continue;
                };
                let data = entry.metadata()?;
                if !data.is_file() || digest.hash()[0] != byte {
                    continue;
                }
                let name = Name {
                    kind,
                    hash: *digest.hash(),
                };
                found.push((data.modified()?, name, data.len()));
            }
        }
    }
    found.sort_unstable();
    Ok(found
        .into_iter()
        .map(|(_, name, size)| (name, size))
        .collect())
}

/// Reads a file if it has that size and the kernel has all of it in memory. Systems other than
/// Linux have no way to ask for that.
#[cfg(target_os = "linux")]
pub(super) fn read_in_memory(path: &Path, size: usize) -> Option<(File, Vec<u8>)> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::{ReadWriteFlags, preadv2};

    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED).ok()?;
    // One byte more: the name may be another file's by now, which must not be read in part.
    let mut bytes = vec![0; size + 1];
    let into = &mut [io::IoSliceMut::new(&mut bytes)];
    let read = preadv2(&file, into, 0, ReadWriteFlags::NOWAIT).ok()?;
    bytes.truncate(size);
    (read == size).then(|| (file.into(), bytes))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn read_in_memory(_: &Path, _: usize) -> Option<(File, Vec<u8>)> {
    None
}

/// The most files that are open for this.
const MAX: usize = 64;

/// Files that were used. Dropping this notes it on the disk.
///
/// Noting a use may wait for the disk; reading what is in memory does not.
#[derive(Debug, Default)]
pub(super) struct Used(Vec<(File, SystemTime)>);

impl Used {
    /// Adds a file that was used just now. Returns all so far if they are many.
    #[must_use]
    pub(super) fn push(&mut self, file: File) -> Option<Self> {
        self.0.push((file, SystemTime::now()));
        (self.0.len() >= MAX).then(|| mem::take(self))
    }
}

impl Drop for Used {
    fn drop(&mut self) {
        for (file, when) in &self.0 {
            note_use(file, *when);
        }
    }
}

/// Makes the order of use outlive this process. A failure does no harm.
pub(super) fn note_use(file: &File, when: SystemTime) {
    let _ = file.set_modified(when);
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{Disk, Held, Name};

    #[test]
    fn a_file_of_another_size_is_not_read_in_part() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::open(folder.path(), u64::MAX).unwrap();
        let name = Name::result(&[7; 32]);
        let mut file = disk.temporary(&name).unwrap();
        file.write_all(b"longer than before").unwrap();
        disk.keep(file, name, 18).unwrap();
        // A reader may have asked for the size before the file was replaced.
        for size in [6, 17, 19] {
            assert_eq!(disk.read_cached(&name, size), None, "{size}");
        }
    }

    #[test]
    fn a_folder_is_free_at_once_even_if_a_process_is_being_started() {
        let folder = tempfile::tempdir().unwrap();
        let held = Held::take(folder.path()).unwrap();
        // The copy that such a process has between `fork` and `exec`.
        let inherited = held.0.try_clone().unwrap();
        Held::take(folder.path()).unwrap_err();
        drop(held);
        Held::take(folder.path()).unwrap();
        drop(inherited);
    }
}
