//! Errors, as gRPC and as HTTP name them.

use std::fmt;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use tonic::{Code, Status};

use crate::storage::{StorageError, is_full};

impl From<StorageError> for Status {
    /// Logs the cause for the operator, as it may name paths and hosts, and does not tell clients.
    fn from(error: StorageError) -> Self {
        let code = match &error {
            StorageError::Missing(_) => Code::NotFound,
            StorageError::Corrupt { .. } => Code::DataLoss,
            StorageError::WrongDigest { .. }
            | StorageError::TooLong(_)
            | StorageError::TooLarge { .. } => Code::InvalidArgument,
            StorageError::Disk(error) if is_full(error) => {
                tracing::error!(%error, "storage");
                return Self::resource_exhausted("the storage is full");
            }
            StorageError::Failed(_) | StorageError::Disk(_) | StorageError::Unreachable(_) => {
                tracing::error!(%error, "storage");
                let what = "the storage does not answer as it should: see the server's log";
                return Self::unavailable(what);
            }
        };
        Self::new(code, error.to_string())
    }
}

/// Makes the status for a client that has sent something wrong.
pub(super) fn invalid(error: impl fmt::Display) -> Status {
    Status::invalid_argument(error.to_string())
}

/// A request by HTTP that is refused: the status code and the reason, as a line of text.
pub(crate) struct Refusal(pub(super) StatusCode, pub(super) String);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let kind = [(CONTENT_TYPE, "text/plain; charset=utf-8")];
        (self.0, kind, self.1 + "\n").into_response()
    }
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        let code = match status.code() {
            Code::NotFound => StatusCode::NOT_FOUND,
            Code::InvalidArgument => StatusCode::BAD_REQUEST,
            Code::Unauthenticated => StatusCode::UNAUTHORIZED,
            Code::PermissionDenied => StatusCode::FORBIDDEN,
            Code::DeadlineExceeded => StatusCode::REQUEST_TIMEOUT,
            Code::Unimplemented => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Code::ResourceExhausted => StatusCode::INSUFFICIENT_STORAGE,
            Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self(code, status.message().to_owned())
    }
}

impl From<StorageError> for Refusal {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::TooLarge { .. } => Self(StatusCode::PAYLOAD_TOO_LARGE, error.to_string()),
            error => Status::from(error).into(),
        }
    }
}
