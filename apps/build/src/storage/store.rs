//! The place of entries: a disk of this machine, or a storage that others may share; its counters
//! and its errors.

use std::error::Error as _;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use opendal::{ErrorKind, Operator};
use prometheus_client::metrics::counter::Counter;
use thiserror::Error;
use tokio::task::spawn_blocking;
use tonic::Status;

use super::disk::Disk;
use super::index::Lookup;
use super::name::Name;
use crate::digest::Digest;

/// The entries of a storage. Clones are handles of the same one.
#[derive(Debug, Clone)]
pub(super) struct Store {
    pub(super) place: Place,
    pub(super) counters: Arc<Counters>,
}

/// The place of entries.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// A disk of this machine, of which only this process uses a folder.
    Disk(Arc<Disk>),
    /// A storage that others may share, and that may remove any entry.
    Shared(Operator),
}

impl Store {
    pub(super) fn new(place: Place) -> Self {
        let counters = Arc::default();
        Self { place, counters }
    }

    pub(super) fn in_memory() -> Self {
        let operator = Operator::new(opendal::services::Memory::default());
        Self::new(Place::Shared(
            operator.expect("memory needs no configuration"),
        ))
    }

    /// Checks that the storage is there and that we may use it.
    pub(super) async fn answers(&self) -> Result<(), StorageError> {
        match &self.place {
            // S3 gives the same answer for a missing bucket as for a missing entry.
            Place::Shared(operator) if operator.info().capability().list => {
                Ok(operator.check().await?)
            }
            _ => self.size(Name::blob(&[0; 32])).await.map(drop),
        }
    }

    /// Returns the size of an entry, which counts as used now.
    pub(super) async fn size(&self, name: Name) -> Result<Option<u64>, StorageError> {
        match &self.place {
            Place::Disk(disk) => match disk.touch(&name) {
                Lookup::There(size) => Ok(Some(size)),
                Lookup::Missing => Ok(None),
                Lookup::Unseen => {
                    let disk = disk.clone();
                    blocking(move || Ok(disk.size(&name))).await
                }
            },
            Place::Shared(operator) => match operator.stat(&name.path()).await {
                Ok(data) => Ok(Some(data.content_length())),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error.into()),
            },
        }
    }

    pub(super) async fn remove(&self, name: Name) -> Result<(), StorageError> {
        match &self.place {
            Place::Disk(disk) => {
                let disk = disk.clone();
                blocking(move || Ok(disk.remove(&name)?)).await
            }
            Place::Shared(operator) => Ok(operator.delete(&name.path()).await?),
        }
    }

    /// Reads a whole entry.
    pub(super) async fn read(&self, name: Name) -> Result<Option<Bytes>, StorageError> {
        match &self.place {
            Place::Disk(disk) => {
                let Some(size) = self.size(name).await? else {
                    return Ok(None);
                };
                // Asking a thread would cost more than the rest.
                if let Some(bytes) = disk.read_cached(&name, size) {
                    return Ok(Some(bytes.into()));
                }
                let disk = disk.clone();
                blocking(move || {
                    let Some(mut file) = disk.file(&name)? else {
                        return Ok(None);
                    };
                    let mut bytes = Vec::new();
                    io::Read::read_to_end(&mut file, &mut bytes)?;
                    Ok(Some(bytes.into()))
                })
                .await
            }
            Place::Shared(operator) => match operator.read(&name.path()).await {
                Ok(buffer) => Ok(Some(buffer.to_bytes())),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error.into()),
            },
        }
    }

    /// Checks that bytes that were read are the blob's. If not, removes them.
    pub(super) async fn check(&self, wanted: Digest, found: Digest) -> Result<(), StorageError> {
        if found == wanted {
            return Ok(());
        }
        tracing::error!(%wanted, %found, "a stored blob has other bytes: it is removed");
        self.counters.corrupt.inc();
        self.remove(Name::blob(wanted.hash())).await?;
        Err(StorageError::Corrupt { wanted, found })
    }

    /// Stores a whole entry, in place of the one that had its name.
    pub(super) async fn write(&self, name: Name, bytes: Bytes) -> Result<(), StorageError> {
        match &self.place {
            Place::Disk(disk) => {
                let disk = disk.clone();
                blocking(move || Ok(disk.store(name, &[bytes])?)).await
            }
            Place::Shared(operator) => {
                operator.write(&name.path(), bytes).await?;
                Ok(())
            }
        }
    }
}

/// Runs work that may wait for a disk, or compute for long.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StorageError> + Send + 'static,
) -> Result<T, StorageError> {
    match spawn_blocking(work).await {
        Ok(result) => result,
        // It has panicked, or the runtime ends: then the waiter ends too.
        Err(error) => Err(io::Error::other(error).into()),
    }
}

/// Counters of the storage. Clones count together.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    /// Blobs that somebody asked for and that were there.
    pub blob_hits: Counter,
    /// Blobs that somebody asked for and that were not there.
    pub blob_misses: Counter,
    /// Blobs that were stored.
    pub blobs_written: Counter,
    /// Bytes of these.
    pub bytes_written: Counter,
    /// Bytes of blobs that were read.
    pub bytes_read: Counter,
    /// Blobs that were read and had other bytes than their digest says.
    pub corrupt: Counter,
    /// Results that somebody asked for and that were there, with all of their blobs.
    pub result_hits: Counter,
    /// Results that somebody asked for and that were missing, or some of whose blobs were.
    pub result_misses: Counter,
}

/// The reason that the storage did not do what it was asked for.
#[derive(Debug, Error)]
pub enum StorageError {
    /// There is no such blob.
    #[error("there is no blob {0}")]
    Missing(Digest),
    /// The bytes that came are those of another blob: nothing was stored.
    #[error("the bytes of {wanted} are those of {found}")]
    WrongDigest {
        /// The blob that they should be.
        wanted: Digest,
        /// The digest of the bytes.
        found: Digest,
    },
    /// The stored bytes are those of another blob: they were removed.
    #[error("the bytes of {wanted} are those of {found}")]
    Corrupt {
        /// The blob that was asked for.
        wanted: Digest,
        /// The digest of the bytes.
        found: Digest,
    },
    /// More bytes came than the blob has: nothing was stored.
    #[error("there are more bytes than {0} has")]
    TooLong(Digest),
    /// The blob or the result is larger than its limit: nothing was stored.
    #[error("it may have {limit} bytes at most")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The storage behind has failed.
    #[error("the storage failed: {}", with_causes(.0))]
    Failed(#[from] opendal::Error),
    /// The disk has failed.
    #[error("the disk failed: {0}")]
    Disk(#[from] io::Error),
    /// The coordinator, another worker or the network to them has failed.
    #[error("{:?}: {}", .0.code(), .0.message())]
    Unreachable(Box<Status>),
}

impl From<Status> for StorageError {
    fn from(status: Status) -> Self {
        Self::Unreachable(Box::new(status))
    }
}

/// Writes an error with all of its causes: it names its own, but not the causes of that.
fn with_causes(error: &opendal::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source().and_then(std::error::Error::source);
    while let Some(deeper) = cause {
        text += &format!(": {deeper}");
        cause = deeper.source();
    }
    text
}
