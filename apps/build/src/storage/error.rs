//! Errors of the storage.

use std::error::Error as _;
use std::io;

use thiserror::Error;
use tonic::Status;

use crate::digest::Digest;

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
    /// The blob is larger than the limit: nothing was stored.
    #[error("a blob may have {limit} bytes at most")]
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
