//! Files with the bytes of blobs, outside of the storage.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::vec;

use filch_sync::lock;
use futures_util::future::try_join_all;

use super::blobs::Blobs;
use super::disk::Files;
use super::name::Name;
use super::store::{Place, StorageError, blocking};
use crate::digest::{Digest, Hasher};

/// The bytes that are copied at once. A file that has no more is not worth a clone.
const PIECE: usize = 256 << 10;

/// The most threads that make files for one caller.
const THREADS: usize = 4;

/// The most files that a thread takes at once, and the bytes after which it takes no more. Threads
/// that make files in one folder wait for each other, and neighbours are mostly in one.
const SHARE: usize = 64;
const SHARE_BYTES: u64 = 1 << 20;

/// A file that is to have the bytes of a blob.
#[derive(Debug, Clone)]
pub struct NewFile {
    /// The blob.
    pub blob: Digest,
    /// Its path, where nothing is yet; its folder is there.
    pub path: PathBuf,
    /// True if it is a program.
    pub executable: bool,
}

impl NewFile {
    fn create(&self) -> Result<File, StorageError> {
        let mode = if self.executable { 0o755 } else { 0o644 };
        let mut options = OpenOptions::new();
        Ok(options
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&self.path)?)
    }

    /// Makes the file, if the blob is there. A large one shares its blocks with the blob where the
    /// file system can do that; a write to one leaves the other alone. The bytes are checked.
    fn make(&self, disk: &Files, buffer: &mut [u8]) -> Result<bool, StorageError> {
        if self.blob == Digest::EMPTY {
            return self.create().map(|_| true);
        }
        let size = self.blob.size();
        let mut from = match disk.file(&Name::blob(self.blob.hash()))? {
            Some(file) if file.metadata()?.len() == size => file,
            _ => return Ok(false),
        };
        let mut to = self.create()?;
        let is_clone = size > PIECE as u64 && clone(&from, &to);
        let mut hasher = Hasher::new();
        loop {
            let count = from.read(buffer)?;
            if count == 0 {
                break;
            }
            hasher.update(&buffer[..count]);
            if !is_clone {
                to.write_all(&buffer[..count])?;
            }
        }
        match (self.blob, hasher.digest()) {
            (wanted, found) if wanted == found => Ok(true),
            (wanted, found) => Err(StorageError::Corrupt { wanted, found }),
        }
    }
}

/// Takes the next files out that one thread makes.
fn share(files: &mut vec::IntoIter<NewFile>) -> Vec<NewFile> {
    let (mut share, mut bytes) = (Vec::new(), 0);
    while share.len() < SHARE
        && bytes < SHARE_BYTES
        && let Some(file) = files.next()
    {
        bytes += file.blob.size();
        share.push(file);
    }
    share
}

#[cfg(target_os = "linux")]
fn clone(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn clone(_: &File, _: &File) -> bool {
    false
}

impl Blobs {
    /// Makes files of blobs, checked; returns those whose blobs are not there. A few threads make
    /// them, as asking one for each file would take longer than to make it.
    ///
    /// # Errors
    /// If the bytes are not a blob's, which then is removed, or if a file cannot be made.
    pub async fn place(&self, files: Vec<NewFile>) -> Result<Vec<NewFile>, StorageError> {
        let Place::Disk(disk) = &self.store.place else {
            return self.place_shared(files).await;
        };
        let threads = files.len().min(THREADS);
        let files = Arc::new(Mutex::new(files.into_iter()));
        let threads = (0..threads).map(|_| {
            // If the caller has gone, the rest is not made.
            let files = Arc::downgrade(&files);
            let share = move || {
                let files = files.upgrade()?;
                Some(share(&mut lock(&files)))
            };
            let (disk, counters) = (disk.clone(), self.store.counters.clone());
            blocking(move || {
                let (mut buffer, mut lacking) = (vec![0; PIECE], Vec::new());
                while let Some(files) = share().filter(|files| !files.is_empty()) {
                    for file in files {
                        if file.make(&disk, &mut buffer)? {
                            counters.blob_hits.inc();
                            counters.bytes_read.inc_by(file.blob.size());
                        } else {
                            lacking.push(file);
                        }
                    }
                }
                Ok(lacking)
            })
        });
        let made = try_join_all(threads).await;
        if let Err(StorageError::Corrupt { wanted, found }) = made {
            self.store.check(wanted, found).await?;
        }
        Ok(made?.concat())
    }

    async fn place_shared(&self, files: Vec<NewFile>) -> Result<Vec<NewFile>, StorageError> {
        let mut lacking = Vec::new();
        for file in files {
            match self.read(file.blob).await {
                Err(StorageError::Missing(_)) => lacking.push(file),
                bytes => {
                    let bytes = bytes?;
                    blocking(move || Ok(file.create()?.write_all(&bytes)?)).await?;
                }
            }
        }
        Ok(lacking)
    }
}
