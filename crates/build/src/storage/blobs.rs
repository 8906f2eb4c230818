//! Blobs, each under the name of its digest.

use bytes::Bytes;
use opendal::{ErrorKind, Operator};

use super::error::StorageError;
use crate::digest::Digest;

/// Blobs, each under the name of its digest. Clones are handles of the same storage.
#[derive(Debug, Clone)]
pub struct Blobs {
    operator: Operator,
}

impl Blobs {
    /// Blobs in that storage.
    pub fn new(operator: Operator) -> Self {
        Self { operator }
    }

    /// Blobs in memory, without a limit.
    pub fn in_memory() -> Self {
        let operator = Operator::new(opendal::services::Memory::default());
        Self::new(operator.expect("memory needs no configuration"))
    }

    /// Whether the blob is there.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn contains(&self, digest: Digest) -> Result<bool, StorageError> {
        Ok(digest == Digest::EMPTY || self.operator.exists(&path(digest)).await?)
    }

    /// The whole blob, whose bytes have been checked.
    ///
    /// # Errors
    /// If it is not there, if what is there is not it, or if the storage fails.
    pub async fn read(&self, digest: Digest) -> Result<Bytes, StorageError> {
        if digest == Digest::EMPTY {
            return Ok(Bytes::new());
        }
        let bytes = match self.operator.read(&path(digest)).await {
            Ok(buffer) => buffer.to_bytes(),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(StorageError::Missing(digest));
            }
            Err(error) => return Err(error.into()),
        };
        check(digest, &bytes)?;
        Ok(bytes)
    }

    /// Stores a whole blob.
    ///
    /// # Errors
    /// If the bytes are not it, or if the storage fails: then nothing is stored.
    pub async fn write(&self, digest: Digest, bytes: Bytes) -> Result<(), StorageError> {
        check(digest, &bytes)?;
        self.operator.write(&path(digest), bytes).await?;
        Ok(())
    }
}

fn check(wanted: Digest, bytes: &[u8]) -> Result<(), StorageError> {
    match Digest::of(bytes) {
        found if found == wanted => Ok(()),
        found => Err(StorageError::WrongDigest { wanted, found }),
    }
}

/// Folders of two digits keep folders small.
fn path(digest: Digest) -> String {
    let hex = digest.hex();
    format!("blobs/{}/{hex}", &hex[..2])
}
