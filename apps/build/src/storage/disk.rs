//! Entries as files of a folder.
//!
//! A file is written under a temporary name and renamed, so that nobody sees a half-written one.
//! The rename and the change of the index happen together, under the index's lock. What an earlier
//! process left is learnt while requests are answered; see the file `learn`.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::mem;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

use bytes::Bytes;
use filch_sync::lock;
use tempfile::NamedTempFile;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use super::held::Held;
use super::index::{Change, Index, Lookup, space};
use super::name::{Kind, Name};
use crate::digest::Digest;

/// A folder that this process has for itself, and its files.
#[derive(Debug)]
pub(super) struct Disk {
    files: Arc<Files>,
    learner: Option<JoinHandle<()>>,
}

impl Deref for Disk {
    type Target = Files;

    fn deref(&self) -> &Files {
        &self.files
    }
}

/// Entries as files of a folder; the least recently used ones go first.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) root: PathBuf,
    pub(super) index: Mutex<Index>,
    /// Tells that the index has learnt more.
    pub(super) learnt: Condvar,
    /// Held while a folder is learnt, in which nothing is removed then.
    pub(super) still: Mutex<()>,
    /// True if the learning is to end.
    pub(super) ending: AtomicBool,
    pub(super) held: Held,
    /// Held by the thread that makes room.
    pub(super) making_room: Mutex<()>,
    /// The bytes of the file system that stay free.
    pub(super) reserve: u64,
    used: Mutex<Used>,
}

impl Disk {
    /// Opens the folder, or makes it, and removes what other processes left half-written.
    pub(super) fn open(root: &Path, limit: u64, reserve: u64) -> io::Result<Self> {
        let files = Arc::new(Files::open(root, limit, reserve)?);
        let its = Arc::clone(&files);
        let learner = thread::Builder::new().name("learner".into());
        let learner = Some(learner.spawn(move || its.learn())?);
        Ok(Self { files, learner })
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // ORDERING: Relaxed; nothing else is passed by it, and `join` orders the rest.
        self.files.ending.store(true, Ordering::Relaxed);
        if let Some(Err(_)) = self.learner.take().map(JoinHandle::join) {
            tracing::error!("the thread that learns the cache has panicked");
        }
    }
}

/// Makes a folder, if it is not there.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Removes the files in a folder and in its folders.
fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            clear(&entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

impl Files {
    /// Opens the folder without learning what is there.
    pub(super) fn open(root: &Path, limit: u64, reserve: u64) -> io::Result<Self> {
        fs::create_dir_all(root)?;
        let (held, noted) = Held::take(root)?;
        // No folder is made anew: there may be no space for it.
        let temporary = root.join(TEMPORARY);
        let folders = Kind::ALL.map(|kind| root.join(kind.folder()));
        for folder in folders.iter().chain([&temporary]) {
            make_folder(folder)?;
            for byte in 0..=255_u8 {
                make_folder(&folder.join(digits(byte)))?;
            }
        }
        clear(&temporary)?;
        Ok(Self {
            root: root.to_owned(),
            index: Mutex::new(Index::new(limit, noted.unwrap_or(limit))),
            learnt: Condvar::new(),
            still: Mutex::default(),
            ending: AtomicBool::new(false),
            held,
            making_room: Mutex::default(),
            reserve,
            used: Mutex::default(),
        })
    }

    /// Makes a file of so many bytes that will get that name. Dropping it removes it.
    ///
    /// Threads that make files in one folder wait for each other: there are as many as for names.
    pub(super) fn temporary(&self, name: &Name, size: u64) -> io::Result<NamedTempFile> {
        self.make_room(size)?;
        NamedTempFile::new_in(self.temporary_folder(name))
    }

    pub(super) fn temporary_folder(&self, name: &Name) -> PathBuf {
        self.root.join(TEMPORARY).join(digits(name.hash[0]))
    }

    /// Stores a whole entry, in place of the one that had its name.
    pub(super) fn store(&self, name: Name, pieces: &[Bytes]) -> io::Result<()> {
        let size = pieces.iter().map(|piece| piece.len() as u64).sum();
        let file = self.temporary(&name, size)?;
        for piece in pieces {
            self.write(file.as_file(), piece)?;
        }
        self.keep(file, name, size)
    }

    /// Gives a file its name, in place of the file that had that name.
    pub(super) fn keep(&self, file: NamedTempFile, name: Name, size: u64) -> io::Result<()> {
        let mut index = self.with_entry_room(space(size));
        let most = index.most_used().saturating_add(space(size));
        if most > index.noted {
            self.held.note(&mut index, most)?;
        }
        // Dropped at once, so that not every entry has an open file.
        let _file = file
            .persist(self.path(&name))
            .map_err(|error| error.error)?;
        index.insert(name, size);
        Ok(())
    }

    /// Looks the entry up without waiting for the disk. It counts as used now.
    pub(super) fn touch(&self, name: &Name) -> Lookup {
        self.index().touch(name)
    }

    /// Returns the size of the entry, which counts as used now.
    pub(super) fn size(&self, name: &Name) -> Option<u64> {
        let mut found = self.touch(name);
        if found == Lookup::Unseen {
            let path = self.path(name);
            // Waits for the disk. The second time, under the lock, the kernel has it in memory.
            let _ = fs::symlink_metadata(&path);
            let mut index = self.index();
            if let Ok(data) = fs::symlink_metadata(&path)
                && data.is_file()
            {
                index.learn(*name, data.len(), SystemTime::UNIX_EPOCH);
            }
            found = index.touch(name);
        }
        match found {
            Lookup::There(size) => Some(size),
            Lookup::Missing | Lookup::Unseen => None,
        }
    }

    /// Opens the entry, which can be read even if it is removed meanwhile.
    pub(super) fn file(&self, name: &Name) -> io::Result<Option<File>> {
        if self.size(name).is_none() {
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
        let _still = lock(&self.still);
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

    pub(super) fn path(&self, name: &Name) -> PathBuf {
        self.root.join(name.path())
    }

    pub(super) fn index(&self) -> MutexGuard<'_, Index> {
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

pub(super) fn digits(byte: u8) -> String {
    format!("{byte:02x}")
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

    use super::{Disk, Name};

    #[test]
    fn a_file_of_another_size_is_not_read_in_part() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::open(folder.path(), u64::MAX, 0).unwrap();
        let name = Name::result(&[7; 32]);
        let mut file = disk.temporary(&name, 18).unwrap();
        file.write_all(b"longer than before").unwrap();
        disk.keep(file, name, 18).unwrap();
        // A reader may have asked for the size before the file was replaced.
        for size in [6, 17, 19] {
            assert_eq!(disk.read_cached(&name, size), None, "{size}");
        }
    }
}
