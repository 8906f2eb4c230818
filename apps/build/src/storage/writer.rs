//! A blob whose bytes come one piece after another.

use std::io::Write as _;
use std::mem;
use std::sync::Arc;

use bytes::Bytes;
use tempfile::NamedTempFile;
use tokio::task::{JoinHandle, spawn_blocking};

use super::counters::Counters;
use super::disk::Disk;
use super::error::StorageError;
use super::name::Name;
use super::store::{Store, blocking};
use crate::digest::{Digest, Hasher};

/// So many bytes go to the disk at once. While they do, as many more may come.
const PIECE: usize = 1 << 20;

/// So many pieces at most, since a small one may keep a larger buffer.
const PIECES: usize = 256;

/// So many bytes go to a shared storage at once.
pub(super) const PART: usize = 8 << 20;

/// What the bytes have to be.
#[derive(Debug, Clone, Copy)]
pub struct Expected {
    /// The hash of all.
    pub hash: [u8; 32],
    /// How many they are, if that is known.
    pub size: Option<u64>,
}

impl From<Digest> for Expected {
    fn from(digest: Digest) -> Self {
        Self {
            hash: *digest.hash(),
            size: Some(digest.size()),
        }
    }
}

/// A blob whose bytes come one piece after another. Nothing is stored before [`Writer::finish`] has
/// checked them; a writer that is dropped leaves nothing.
#[derive(Debug)]
pub struct Writer {
    expected: Expected,
    limit: u64,
    taken: u64,
    target: Target,
    counters: Arc<Counters>,
}

#[derive(Debug)]
enum Target {
    Disk {
        disk: Arc<Disk>,
        /// Not yet given to the disk.
        waiting: Vec<Bytes>,
        waiting_bytes: usize,
        part: Part,
    },
    Shared {
        writer: Upload,
        hasher: Hasher,
    },
}

/// What a thread writes, or has written, if anything.
#[derive(Debug)]
struct Part(Option<JoinHandle<Result<File, StorageError>>>);

#[derive(Debug)]
struct File {
    file: NamedTempFile,
    hasher: Hasher,
}

impl File {
    fn new(disk: &Disk, name: &Name) -> Result<Self, StorageError> {
        Ok(Self {
            file: disk.temporary(name)?,
            hasher: Hasher::new(),
        })
    }

    fn write(&mut self, pieces: &[Bytes]) -> Result<(), StorageError> {
        for piece in pieces {
            self.file.write_all(piece)?;
            self.hasher.update(piece);
        }
        Ok(())
    }
}

impl Writer {
    /// Refuses blobs of more than `limit` bytes.
    pub(super) async fn new(
        store: &Store,
        expected: Expected,
        limit: u64,
        counters: &Arc<Counters>,
    ) -> Result<Self, StorageError> {
        if expected.size.is_some_and(|size| size > limit) {
            return Err(StorageError::TooLarge { limit });
        }
        let target = match store {
            Store::Disk(disk) => Target::Disk {
                disk: disk.clone(),
                waiting: Vec::new(),
                waiting_bytes: 0,
                part: Part(None),
            },
            Store::Shared(operator) => {
                let path = Name::blob(&expected.hash).path();
                Target::Shared {
                    writer: Upload(Some(operator.writer_with(&path).chunk(PART).await?)),
                    hasher: Hasher::new(),
                }
            }
        };
        Ok(Self {
            expected,
            limit,
            taken: 0,
            target,
            counters: counters.clone(),
        })
    }

    /// How many bytes have come.
    pub const fn taken(&self) -> u64 {
        self.taken
    }

    /// Takes more bytes. Of a large blob, a few MiB are in memory at a time if storage is a disk.
    ///
    /// # Errors
    /// If there are more than the blob has or the storage takes, or if the storage fails. The blob
    /// cannot be finished then.
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), StorageError> {
        let taken = self.taken.saturating_add(bytes.len() as u64);
        if let Some(size) = self.expected.size
            && taken > size
        {
            return Err(StorageError::TooLong(Digest::from_hash(
                self.expected.hash,
                size,
            )));
        }
        if taken > self.limit {
            return Err(StorageError::TooLarge { limit: self.limit });
        }
        self.taken = taken;
        match &mut self.target {
            Target::Disk {
                disk,
                waiting,
                waiting_bytes,
                part,
            } => {
                *waiting_bytes += bytes.len();
                waiting.push(bytes);
                if *waiting_bytes >= PIECE || waiting.len() >= PIECES {
                    *waiting_bytes = 0;
                    let pieces = mem::take(waiting);
                    let file = part.settled().await?;
                    let disk = disk.clone();
                    let name = Name::blob(&self.expected.hash);
                    part.0 = Some(spawn_blocking(move || {
                        let mut file = file.map_or_else(|| File::new(&disk, &name), Ok)?;
                        file.write(&pieces)?;
                        Ok(file)
                    }));
                }
            }
            Target::Shared { writer, hasher } => {
                hasher.update(&bytes);
                writer.get()?.write(bytes).await?;
            }
        }
        Ok(())
    }

    /// Checks the bytes and stores the blob: now others see it.
    ///
    /// # Errors
    /// If the bytes are not the blob, or if the storage fails: then nothing is stored.
    pub async fn finish(self) -> Result<Digest, StorageError> {
        let expected = self.expected;
        let check = move |found: Digest| {
            let size = expected.size.unwrap_or(found.size());
            let wanted = Digest::from_hash(expected.hash, size);
            if found == wanted {
                return Ok(());
            }
            Err(StorageError::WrongDigest { wanted, found })
        };
        let found = match self.target {
            Target::Disk {
                disk,
                waiting,
                mut part,
                ..
            } => {
                let file = part.settled().await?;
                blocking(move || {
                    let Some(mut file) = file else {
                        return keep_small(&disk, &waiting, check);
                    };
                    file.write(&waiting)?;
                    let found = file.hasher.digest();
                    check(found)?;
                    disk.keep(file.file, Name::blob(found.hash()), found.size())?;
                    Ok(found)
                })
                .await?
            }
            Target::Shared { mut writer, hasher } => {
                let found = hasher.digest();
                // An upload that is dropped is aborted.
                check(found)?;
                writer.get()?.close().await?;
                writer.0 = None;
                found
            }
        };
        self.counters.blobs_written.inc();
        self.counters.bytes_written.inc_by(found.size());
        Ok(found)
    }
}

/// All bytes are still here: if they are wrong, the disk need not know.
fn keep_small(
    disk: &Disk,
    pieces: &[Bytes],
    check: impl FnOnce(Digest) -> Result<(), StorageError>,
) -> Result<Digest, StorageError> {
    let mut hasher = Hasher::new();
    for piece in pieces {
        hasher.update(piece);
    }
    let found = hasher.digest();
    check(found)?;
    let name = Name::blob(found.hash());
    let mut file = disk.temporary(&name)?;
    for piece in pieces {
        file.write_all(piece)?;
    }
    disk.keep(file, name, found.size())?;
    Ok(found)
}

impl Part {
    /// Waits until what it was given has gone to the disk, and takes the file out.
    async fn settled(&mut self) -> Result<Option<File>, StorageError> {
        let Some(thread) = self.0.take() else {
            return Ok(None);
        };
        match thread.await {
            Ok(file) => Ok(Some(file?)),
            Err(error) => Err(std::io::Error::other(error).into()),
        }
    }
}

/// An upload to a shared storage. Dropped before its end, it is aborted.
struct Upload(Option<opendal::Writer>);

impl std::fmt::Debug for Upload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upload").finish_non_exhaustive()
    }
}

impl Upload {
    fn get(&mut self) -> Result<&mut opendal::Writer, StorageError> {
        let ended = || std::io::Error::other("the upload has ended");
        Ok(self.0.as_mut().ok_or_else(ended)?)
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let Some(mut writer) = self.0.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move {
                if let Err(error) = writer.abort().await {
                    tracing::warn!(%error, "an upload was not aborted");
                }
            });
        }
    }
}
