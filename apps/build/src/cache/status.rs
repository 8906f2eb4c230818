//! The gRPC status for an error of the storage.

use std::io::ErrorKind;

use tonic::{Code, Status};

use crate::storage::StorageError;

pub(super) fn code(error: &StorageError, reading: bool) -> Code {
    match error {
        StorageError::Missing(_) => Code::NotFound,
        // When reading, what was stored is broken; else what a client sends is wrong.
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

/// The status for a client that asked for a blob.
pub(super) fn read_failed(error: &StorageError) -> Status {
    Status::new(code(error, true), text(error))
}

/// The status for a client that sent a blob.
pub(super) fn write_failed(error: &StorageError) -> Status {
    Status::new(code(error, false), text(error))
}

/// Logs the cause for the operator, as it may name paths and hosts; returns a text for clients.
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
