//! Errors of the storage.

use std::error::Error;
use std::{fmt, io};

use crate::digest::Digest;

/// The reason that the storage did not do what it was asked for.
#[derive(Debug)]
pub enum StorageError {
    /// There is no such blob.
    Missing(Digest),
    /// The bytes are those of another blob: nothing was stored, or the stored bytes were removed.
    WrongDigest {
        /// The blob that was asked for.
        wanted: Digest,
        /// The digest of the bytes.
        found: Digest,
    },
    /// More bytes came than the blob has: nothing was stored.
    TooLong(Digest),
    /// The blob is larger than the limit: nothing was stored.
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The storage behind has failed.
    Failed(opendal::Error),
    /// The disk has failed.
    Disk(io::Error),
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(digest) => write!(f, "there is no blob {digest}"),
            Self::WrongDigest { wanted, found } => {
                write!(f, "the bytes of {wanted} are those of {found}")
            }
            Self::TooLong(digest) => write!(f, "there are more bytes than {digest} has"),
            Self::TooLarge { limit } => write!(f, "a blob may have {limit} bytes at most"),
            Self::Failed(error) => {
                write!(f, "the storage failed: {error}")?;
                // It names its own cause, but not the causes of that.
                let mut cause = error.source().and_then(Error::source);
                while let Some(deeper) = cause {
                    write!(f, ": {deeper}")?;
                    cause = deeper.source();
                }
                Ok(())
            }
            Self::Disk(error) => write!(f, "the disk failed: {error}"),
        }
    }
}

impl Error for StorageError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Failed(error) => Some(error),
            Self::Disk(error) => Some(error),
            _ => None,
        }
    }
}

impl From<opendal::Error> for StorageError {
    fn from(error: opendal::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<io::Error> for StorageError {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}
