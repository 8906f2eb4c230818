//! Writes a blob whose bytes come one piece after another.

use std::mem;
use std::sync::Arc;

use bytes::Bytes;
use tempfile::NamedTempFile;
use tokio::task::{JoinHandle, spawn_blocking};

use super::disk::Disk;
use super::name::Name;
use super::store::{Counters, Place, StorageError, Store, blocking};
use crate::digest::{Digest, Hasher};

/// The bytes that go to the disk at once. Meanwhile, as many more may come.
const PIECE: usize = 1 << 20;

/// The most pieces, since a small one may keep a larger buffer.
const PIECES: usize = 256;

/// The bytes that go to a shared storage at once.
pub(super) const PART: usize = 8 << 20;

/// The hash and size that the bytes must have.
#[derive(Debug, Clone, Copy)]
pub struct Expected {
    /// The hash of all bytes.
    pub hash: [u8; 32],
    /// The number of bytes, if it is known.
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

/// Writes a blob whose bytes come one piece after another. Nothing is stored before
/// [`Writer::finish`] has checked them; dropping the writer leaves nothing.
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
        /// The pieces that no thread has yet.
        waiting: Vec<Bytes>,
        waiting_bytes: usize,
        part: Part,
    },
    Shared {
        writer: Upload,
        hasher: Hasher,
    },
}

/// The part that a thread writes, or has written, if any.
#[derive(Debug)]
struct Part(Option<JoinHandle<Result<File, StorageError>>>);

#[derive(Debug)]
struct File {
    file: NamedTempFile,
    hasher: Hasher,
}

impl File {
    fn new(disk: &Disk, name: &Name, size: u64) -> Result<Self, StorageError> {
        Ok(Self {
            file: disk.temporary(name, size)?,
            hasher: Hasher::new(),
        })
    }

    fn write(&mut self, disk: &Disk, pieces: &[Bytes]) -> Result<(), StorageError> {
        for piece in pieces {
            disk.write(self.file.as_file(), piece)?;
            self.hasher.update(piece);
        }
        Ok(())
    }
}

impl Writer {
    /// Makes a writer. Refuses blobs of more than `limit` bytes.
    pub(super) async fn new(
        store: &Store,
        expected: Expected,
        limit: u64,
    ) -> Result<Self, StorageError> {
        if expected.size.is_some_and(|size| size > limit) {
            return Err(StorageError::TooLarge { limit });
        }
        let target = match &store.place {
            Place::Disk(disk) => Target::Disk {
                disk: disk.clone(),
                waiting: Vec::new(),
                waiting_bytes: 0,
                part: Part(None),
            },
            Place::Shared(operator) => {
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
            counters: store.counters.clone(),
        })
    }

    /// Returns how many bytes have come.
    pub const fn taken(&self) -> u64 {
        self.taken
    }

    /// Adds bytes. If storage is a disk, at most a few MiB of a large blob are in memory.
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
                    let size = self.expected.size.unwrap_or(0);
                    part.0 = Some(spawn_blocking(move || {
                        let mut file = file.map_or_else(|| File::new(&disk, &name, size), Ok)?;
                        file.write(&disk, &pieces)?;
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

    /// Checks the bytes and stores the blob: from now on others see it.
    ///
    /// # Errors
    /// If the bytes are not the blob's, or if the storage fails: then nothing is stored.
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
                    file.write(&disk, &waiting)?;
                    let found = file.hasher.digest();
                    check(found)?;
                    disk.keep(file.file, Name::blob(found.hash()), found.size())?;
                    Ok(found)
                })
                .await?
            }
            Target::Shared { mut writer, hasher } => {
                let found = hasher.digest();
                // Dropping the upload aborts it.
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

/// Stores a blob whose bytes are all still in memory: wrong bytes never get to the disk.
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
    disk.store(Name::blob(found.hash()), pieces)?;
    Ok(found)
}

impl Part {
    /// Waits until the disk has all that was given to it, and takes the file out.
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

/// An upload to a shared storage. Dropping it before its end aborts it.
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
