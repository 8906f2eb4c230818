//! Why storage has not done what it was asked for.

use std::fmt;

use crate::digest::Digest;

/// Why storage has not done what it was asked for.
#[derive(Debug)]
pub enum StorageError {
    /// There is no such blob.
    Missing(Digest),
    /// The bytes are those of another blob: nothing was stored, or what was is gone.
    WrongDigest {
        /// What was asked for.
        wanted: Digest,
        /// What the bytes are.
        found: Digest,
    },
    /// The storage behind has failed.
    Failed(opendal::Error),
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(digest) => write!(f, "there is no blob {digest}"),
            Self::WrongDigest { wanted, found } => {
                write!(f, "the bytes of {wanted} are those of {found}")
            }
            Self::Failed(error) => write!(f, "the storage failed: {error}"),
        }
    }
}

impl std::error::Error for StorageError {}

impl From<opendal::Error> for StorageError {
    fn from(error: opendal::Error) -> Self {
        Self::Failed(error)
    }
}
