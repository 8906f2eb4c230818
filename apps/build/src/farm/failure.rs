//! The reason that an action has no result. A panic becomes one: it ends one action or one session,
//! and nothing else.

use std::panic::AssertUnwindSafe;

use bazel_remote_apis::google::protobuf::Any;
use bazel_remote_apis::google::rpc;
use futures_util::FutureExt as _;
use prost::Message as _;
use thiserror::Error;
use tonic::{Code, Status};

use crate::digest::{Digest, NotADigest};
use crate::storage::StorageError;

/// The reason that an action has no result, as a client is told.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct Failure {
    /// The code.
    pub code: Code,
    /// The text.
    pub message: String,
    /// Blobs that the action needs, and that are not in the storage: a client that has them may
    /// send them and ask again.
    pub missing: Vec<Digest>,
}

impl Failure {
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            missing: Vec::new(),
        }
    }

    /// Makes that of an action that cannot be run, for this reason.
    pub(super) fn invalid(why: &str) -> Self {
        let message = format!("the action cannot be run: {why}");
        Self::new(Code::InvalidArgument, message)
    }

    pub(super) fn missing(missing: Vec<Digest>) -> Self {
        let mut message = format!("{} blobs of the action are missing:", missing.len());
        for blob in missing.iter().take(3) {
            message += &format!(" {blob}");
        }
        Self {
            missing,
            ..Self::new(Code::FailedPrecondition, message)
        }
    }

    /// Makes that of a coordinator that is about to end.
    pub(super) fn stopped() -> Self {
        Self::new(Code::Unavailable, "the coordinator is about to end")
    }

    /// Makes the status for a client. A client sends missing blobs if they are named in this form.
    pub fn status(&self) -> rpc::Status {
        let details = match &self.missing[..] {
            [] => Vec::new(),
            missing => vec![precondition(missing)],
        };
        rpc::Status {
            code: self.code as i32,
            message: self.message.clone(),
            details,
        }
    }
}

impl From<NotADigest> for Failure {
    fn from(error: NotADigest) -> Self {
        Self::invalid(&error.to_string())
    }
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Missing(blob) => Self::missing(vec![blob]),
            error => Self::new(Code::Internal, Status::from(error).message()),
        }
    }
}

/// Names missing blobs in the form that the Remote Execution API prescribes.
fn precondition(blobs: &[Digest]) -> Any {
    let violation = |blob: &Digest| Violation {
        kind: "MISSING".to_owned(),
        subject: format!("blobs/{blob}"),
        description: String::new(),
    };
    let failure = PreconditionFailure {
        violations: blobs.iter().map(violation).collect(),
    };
    Any {
        type_url: "type.googleapis.com/google.rpc.PreconditionFailure".to_owned(),
        value: failure.encode_to_vec(),
    }
}

/// `google.rpc.PreconditionFailure`.
#[derive(Clone, PartialEq, prost::Message)]
struct PreconditionFailure {
    #[prost(message, repeated, tag = "1")]
    violations: Vec<Violation>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Violation {
    #[prost(string, tag = "1")]
    kind: String,
    #[prost(string, tag = "2")]
    subject: String,
    #[prost(string, tag = "3")]
    description: String,
}

/// Runs the future to its end. If it panics, returns an error that says so.
///
/// State shared with others is behind locks, and is consistent whenever a lock is free.
pub(super) async fn contained<T>(future: impl Future<Output = T>) -> Result<T, String> {
    let ended = AssertUnwindSafe(future).catch_unwind().await;
    ended.map_err(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
        let said = said.unwrap_or("a panic without a text");
        tracing::error!("a defect of the coordinator, please report it: {said}");
        format!("a defect of the coordinator: {said}")
    })
}

#[cfg(test)]
mod tests {
    use super::{Code, Failure, StorageError, contained};

    #[test]
    fn how_the_storage_failed_is_not_for_clients() {
        let error = std::io::Error::other("/a/path of this machine");
        let failure = Failure::from(StorageError::Disk(error));
        assert_eq!(failure.code, Code::Internal);
        assert!(!failure.message.contains("/a/path"), "{failure}");
    }

    #[tokio::test]
    async fn a_panic_is_an_error_that_says_what_the_panic_said() {
        assert_eq!(contained(async { 1 }).await, Ok(1));
        let text = contained(async { panic!("a text") }).await;
        assert_eq!(
            text,
            Err::<(), _>("a defect of the coordinator: a text".to_owned())
        );
        let made = contained(async {
            tokio::task::yield_now().await;
            panic!("{} and {}", 1, 2)
        });
        assert_eq!(
            made.await,
            Err::<(), _>("a defect of the coordinator: 1 and 2".to_owned())
        );
    }
}
