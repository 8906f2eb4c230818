//! Blobs, each under the name of its digest.

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::sync::mpsc;

use super::index::Change;
use super::name::Name;
use super::reader::{Origin, PIECE, Reader, Source};
use super::store::{Place, StorageError, Store, blocking};
use super::writer::{Expected, Writer};
use crate::digest::Digest;

/// The number of questions to a shared storage that are asked at a time.
const QUESTIONS: usize = 16;

/// Blobs, each under the name of its digest. Clones are handles of the same storage.
#[derive(Debug, Clone)]
pub struct Blobs {
    pub(super) store: Store,
    limit: u64,
}

impl Blobs {
    pub(super) fn new(store: Store, limit: u64) -> Self {
        Self { store, limit }
    }

    /// Keeps blobs in memory, without a limit.
    pub fn in_memory() -> Self {
        Self::new(Store::in_memory(), u64::MAX)
    }

    /// Returns true if the blob is there; it counts as used then.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn contains(&self, digest: Digest) -> Result<bool, StorageError> {
        Ok(digest == Digest::EMPTY || self.find(digest.hash()).await? == Some(digest))
    }

    /// Returns the blobs that are not there. The others count as used.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn missing(
        &self,
        digests: impl IntoIterator<Item = Digest>,
    ) -> Result<Vec<Digest>, StorageError> {
        let mut missing = Vec::new();
        if let Place::Disk(disk) = &self.store.place
            && !disk.index().learns()
        {
            // Nothing waits here, unlike below.
            for digest in digests {
                if !self.contains(digest).await? {
                    missing.push(digest);
                }
            }
            return Ok(missing);
        }
        let digests: Vec<_> = digests.into_iter().collect();
        stream::iter(digests)
            .map(|digest| async move { Ok((digest, self.contains(digest).await?)) })
            .buffered(QUESTIONS)
            .try_filter_map(async |(digest, there)| Ok((!there).then_some(digest)))
            .try_collect()
            .await
    }

    /// Finds the blob of that hash, for clients that do not know its size.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn find(&self, hash: &[u8; 32]) -> Result<Option<Digest>, StorageError> {
        if hash == Digest::EMPTY.hash() {
            return Ok(Some(Digest::EMPTY));
        }
        let size = self.store.size(Name::blob(hash)).await?;
        Ok(size.map(|size| Digest::from_hash(*hash, size)))
    }

    /// Reads the whole blob, and checks its bytes.
    ///
    /// # Errors
    /// If it is not there, if the bytes are not the blob's, which then are removed, or if the
    /// storage fails.
    pub async fn read(&self, digest: Digest) -> Result<Bytes, StorageError> {
        if digest == Digest::EMPTY {
            return Ok(Bytes::new());
        }
        let bytes = self.store.read(Name::blob(digest.hash())).await?;
        let Some(bytes) = bytes.filter(|bytes| bytes.len() as u64 == digest.size()) else {
            self.store.counters.blob_misses.inc();
            return Err(StorageError::Missing(digest));
        };
        let found = if bytes.len() < PIECE {
            Digest::of(&bytes)
        } else {
            let bytes = bytes.clone();
            blocking(move || Ok(Digest::of(&bytes))).await?
        };
        self.store.check(digest, found).await?;
        self.store.counters.blob_hits.inc();
        self.store.counters.bytes_read.inc_by(digest.size());
        Ok(bytes)
    }

    /// Reads the blob piece by piece, from a byte on.
    ///
    /// # Errors
    /// As [`Blobs::read`]; wrong bytes may be found only later.
    pub async fn open(&self, digest: Digest, range: Range) -> Result<Reader, StorageError> {
        let Range { from, length } = range;
        let to = length.map_or(u64::MAX, |length| from.saturating_add(length));
        let name = Name::blob(digest.hash());
        let source = if digest.size() <= PIECE as u64 {
            Source::Whole(Some(self.read(digest).await?))
        } else {
            let source = match &self.store.place {
                Place::Disk(disk) => {
                    let disk = disk.clone();
                    let file = blocking(move || Ok(disk.file(&name)?)).await?;
                    match file {
                        Some(file) if file.metadata()?.len() == digest.size() => {
                            Some(Source::disk(file))
                        }
                        _ => None,
                    }
                }
                Place::Shared(operator) => {
                    if self.store.size(name).await? == Some(digest.size()) {
                        let reader = operator.reader_with(&name.path()).chunk(PIECE).await?;
                        Some(Source::Shared(reader.into_stream(..).await?))
                    } else {
                        None
                    }
                }
            };
            let Some(source) = source else {
                self.store.counters.blob_misses.inc();
                return Err(StorageError::Missing(digest));
            };
            self.store.counters.blob_hits.inc();
            self.store.counters.bytes_read.inc_by(digest.size());
            source
        };
        let origin = Origin {
            store: self.store.clone(),
            digest,
        };
        Ok(Reader::new(origin, source, from, to))
    }

    /// Stores a whole blob.
    ///
    /// # Errors
    /// If the bytes are not the blob's, or if the storage fails: then nothing is stored.
    pub async fn write(&self, digest: Digest, bytes: Bytes) -> Result<(), StorageError> {
        let mut writer = self.writer(digest).await?;
        writer.write(bytes).await?;
        writer.finish().await?;
        Ok(())
    }

    /// Stores a whole blob if it is not there.
    pub(crate) async fn add(&self, digest: Digest, bytes: Bytes) -> Result<(), StorageError> {
        if self.contains(digest).await? {
            return Ok(());
        }
        self.write(digest, bytes).await
    }

    /// Stores a blob whose bytes come piece by piece.
    ///
    /// # Errors
    /// If the storage takes no blob of that size.
    pub async fn writer(&self, expected: impl Into<Expected>) -> Result<Writer, StorageError> {
        Writer::new(&self.store, expected.into(), self.limit).await
    }

    /// Lists all blobs, the last used first; none of a shared storage, which has no list.
    pub fn list(&self) -> Vec<Digest> {
        match &self.store.place {
            Place::Disk(disk) => disk.blobs(),
            Place::Shared(_) => Vec::new(),
        }
    }

    /// Listens for blobs that come and go from now on; a shared storage reports none. A new
    /// listener replaces the last one.
    pub(crate) fn changes(&self) -> mpsc::UnboundedReceiver<Change> {
        match &self.store.place {
            Place::Disk(disk) => disk.changes(),
            Place::Shared(_) => mpsc::unbounded_channel().1,
        }
    }

    /// Returns the most bytes of a blob.
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns true if an upload can stay unfinished for a while without taking memory.
    pub(crate) const fn is_disk(&self) -> bool {
        matches!(self.store.place, Place::Disk(_))
    }
}

/// The part of a blob that is wanted; all of it by default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Range {
    /// The first byte.
    pub from: u64,
    /// The number of bytes; all that follow if `None`.
    pub length: Option<u64>,
}
