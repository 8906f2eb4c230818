//! Which code of gRPC an error of the storage is.

use std::io::ErrorKind;

use tonic::{Code, Status};

use crate::storage::StorageError;

pub(super) fn code(error: &StorageError, reading: bool) -> Code {
    match error {
        StorageError::Missing(_) => Code::NotFound,
        // What was stored is broken; or what a client sends is wrong.
        StorageError::WrongDigest { .. } if reading => Code::DataLoss,
        StorageError::WrongDigest { .. }
        | StorageError::TooLong(_)
        | StorageError::TooLarge { .. } => Code::InvalidArgument,
        StorageError::Disk(error) if error.kind() == ErrorKind::StorageFull => {
            Code::ResourceExhausted
        }
        StorageError::Failed(_) | StorageError::Disk(_) => Code::Unavailable,
    }
}

/// What a client is told that asked for a blob.
pub(super) fn read_failed(error: &StorageError) -> Status {
    Status::new(code(error, true), text(error))
}

/// What a client is told that sent a blob.
pub(super) fn write_failed(error: &StorageError) -> Status {
    Status::new(code(error, false), text(error))
}

/// Why the storage failed is for those who run it: it may name paths and hosts.
pub(crate) fn text(error: &StorageError) -> String {
    match error {
        StorageError::Failed(_) | StorageError::Disk(_) => {
            tracing::error!(%error, "storage");
            if code(error, true) == Code::ResourceExhausted {
                "the storage is full".into()
            } else {
                "the storage does not answer as it should: see the server's log".into()
            }
        }
        _ => error.to_string(),
    }
}
