//! The place of entries: a disk of this machine, or a storage that others may share.

use std::sync::Arc;

use bytes::Bytes;
use opendal::{ErrorKind, Operator};
use tokio::task::spawn_blocking;

use super::counters::Counters;
use super::disk::Disk;
use super::error::StorageError;
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
            Place::Disk(disk) => Ok(disk.size(&name)),
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
                let Some(size) = disk.size(&name) else {
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
                    std::io::Read::read_to_end(&mut file, &mut bytes)?;
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
                blocking(move || {
                    let mut file = disk.temporary(&name)?;
                    std::io::Write::write_all(&mut file, &bytes)?;
                    Ok(disk.keep(file, name, bytes.len() as u64)?)
                })
                .await
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
        Err(error) => Err(std::io::Error::other(error).into()),
    }
}
