//! The reason that an action has no result.

use std::fmt;

use prost::Message as _;
use tonic::Code;

use crate::cache::text;
use crate::digest::Digest;
use crate::storage::StorageError;
use bazel_remote_apis::google::protobuf::Any;
use bazel_remote_apis::google::rpc;

/// The reason that an action has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// These blobs, which the action needs, are not in the storage: a client that has them may send
    /// them and ask again.
    Missing(Vec<Digest>),
    /// The action cannot be run, for this reason.
    Invalid(String),
    /// The action asks for another platform: this one.
    Platform(String),
    /// The action has more inputs than this.
    TooLarge(usize),
    /// The worker has no result of the action, for this reason: a code and a text.
    Refused(Code, String),
    /// This many workers got the action, and none finished it: what happened to each.
    Lost(Vec<String>),
    /// Nobody waited for it.
    Cancelled,
    /// The storage failed, with this error.
    Storage(String),
    /// The coordinator is about to end.
    Stopped,
    /// The coordinator has a defect, with this text.
    Defect(String),
}

impl Failure {
    /// The code for the client.
    pub fn code(&self) -> Code {
        match self {
            Self::Missing(_) | Self::Platform(_) => Code::FailedPrecondition,
            Self::Invalid(_) => Code::InvalidArgument,
            Self::TooLarge(_) => Code::ResourceExhausted,
            Self::Refused(code, _) => *code,
            Self::Lost(_) | Self::Storage(_) | Self::Defect(_) => Code::Internal,
            Self::Cancelled => Code::Cancelled,
            Self::Stopped => Code::Unavailable,
        }
    }

    /// Makes the status for a client. A client sends missing blobs if they are named in this form.
    pub fn status(&self) -> rpc::Status {
        let details = match self {
            Self::Missing(blobs) => vec![precondition(blobs)],
            _ => Vec::new(),
        };
        rpc::Status {
            code: self.code() as i32,
            message: self.to_string(),
            details,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(blobs) => {
                write!(f, "{} blobs of the action are missing:", blobs.len())?;
                let mut shown = blobs.iter().take(3);
                shown.try_for_each(|blob| write!(f, " {blob}"))
            }
            Self::Invalid(why) => write!(f, "the action cannot be run: {why}"),
            Self::Platform(why) => write!(f, "no worker of this farm can run the action: {why}"),
            Self::TooLarge(most) => write!(f, "the action has more than {most} inputs"),
            Self::Refused(_, message) => f.write_str(message),
            Self::Lost(attempts) => {
                write!(f, "the action was given to {} workers, ", attempts.len())?;
                write!(f, "none brought it to an end: {}", attempts.join("; "))
            }
            Self::Cancelled => f.write_str("the action was cancelled: nobody waited for it"),
            Self::Storage(why) | Self::Defect(why) => f.write_str(why),
            Self::Stopped => f.write_str("the coordinator is about to end"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Missing(blob) => Self::Missing(vec![blob]),
            error => Self::Storage(text(&error)),
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

#[cfg(test)]
mod tests {
    use super::{Failure, StorageError};

    #[test]
    fn how_the_storage_failed_is_not_for_clients() {
        let error = std::io::Error::other("/a/path of this machine");
        let failure = Failure::from(StorageError::Disk(error));
        assert!(matches!(failure, Failure::Storage(_)));
        let message = failure.status().message;
        assert!(!message.contains("/a/path"), "{message}");
    }
}
