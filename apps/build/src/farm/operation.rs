//! The operation message that tells a client about an action.

use prost::Message;

use super::executing::Executing;
use super::run::{Outcome, Stage};
use crate::reapi::execution_stage::Value;
use crate::reapi::{ExecuteOperationMetadata, ExecuteResponse, digest_function};
use bazel_remote_apis::google::longrunning::{Operation, operation};
use bazel_remote_apis::google::protobuf::Any;
use bazel_remote_apis::google::rpc;

pub(super) fn operation(executing: &Executing, stage: &Stage) -> Operation {
    let value = match stage {
        Stage::Queued => Value::Queued,
        Stage::Executing => Value::Executing,
        Stage::Completed(_) => Value::Completed,
    };
    let metadata = ExecuteOperationMetadata {
        stage: value.into(),
        action_digest: Some(executing.action().into()),
        digest_function: digest_function::Value::Sha256.into(),
        ..ExecuteOperationMetadata::default()
    };
    let result = match stage {
        Stage::Completed(outcome) => {
            let response = any("ExecuteResponse", &response(executing.cached(), outcome));
            Some(operation::Result::Response(response))
        }
        _ => None,
    };
    Operation {
        name: executing.name().to_owned(),
        metadata: Some(any("ExecuteOperationMetadata", &metadata)),
        done: result.is_some(),
        result,
    }
}

fn response(cached: bool, outcome: &Outcome) -> ExecuteResponse {
    let (result, status) = match outcome {
        Ok(result) => (Some((**result).clone()), rpc::Status::default()),
        Err(failure) => (None, failure.status()),
    };
    ExecuteResponse {
        result,
        cached_result: cached,
        status: Some(status),
        ..ExecuteResponse::default()
    }
}

fn any(name: &str, message: &impl Message) -> Any {
    Any {
        type_url: format!("type.googleapis.com/build.bazel.remote.execution.v2.{name}"),
        value: message.encode_to_vec(),
    }
}
