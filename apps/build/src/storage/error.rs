//! Why storage has not done what it was asked for.

use std::error::Error;
use std::{fmt, io};

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
    /// More bytes than the blob has came: nothing was stored.
    TooLong(Digest),
    /// The blob is larger than the storage takes: nothing was stored.
    TooLarge {
        /// How many bytes it takes.
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
                // It tells its own cause, and nothing of what is behind that.
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
