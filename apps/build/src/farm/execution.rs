//! The Execution service of the Remote Execution API: its waits for actions, and what it tells.

use std::pin::Pin;
use std::sync::Arc;

use bazel_remote_apis::google::longrunning::{Operation, operation};
use bazel_remote_apis::google::protobuf::Any;
use bazel_remote_apis::google::rpc;
use futures_util::{Stream, stream};
use prost::Message;
use tokio::sync::watch;
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status};

use super::builds::Invocation;
use super::coordinator::Farm;
use super::failure::Failure;
use super::run::{Outcome, Run, Stage};
use crate::cache::{Cache, PRIORITIES, digest};
use crate::digest::Digest;
use crate::reapi::execution_stage::Value;
use crate::reapi::{
    ExecuteOperationMetadata, ExecuteRequest, ExecuteResponse, RequestMetadata,
    WaitExecutionRequest, digest_function, execution_server,
};

/// The Execution service of the Remote Execution API.
///
/// An operation reports its stages as they come, and the outcome of the action. The stream itself
/// ends with an error only if the request was wrong.
#[derive(Debug, Clone)]
pub struct ExecutionService {
    farm: Farm,
    cache: Cache,
}

type Operations = Pin<Box<dyn Stream<Item = Result<Operation, Status>> + Send>>;

impl ExecutionService {
    /// Serves clients of that farm, whose actions are in that cache.
    pub fn new(farm: Farm, cache: Cache) -> Self {
        Self { farm, cache }
    }
}

#[tonic::async_trait]
impl execution_server::Execution for ExecutionService {
    type ExecuteStream = Operations;
    type WaitExecutionStream = Operations;

    async fn execute(
        &self,
        request: Request<ExecuteRequest>,
    ) -> Result<Response<Operations>, Status> {
        let said = metadata(request.metadata());
        let request = request.into_inner();
        let (instance, function) = (&request.instance_name, request.digest_function);
        self.cache.check(instance, function)?;
        let digest = digest(request.action_digest.as_ref(), "the action")?;
        let skip_cache = request.skip_cache_lookup;
        let priority = request.execution_policy.unwrap_or_default().priority;
        if !PRIORITIES.contains(&priority) {
            let (least, most) = PRIORITIES.into_inner();
            let range = format!("the priority {priority} is not from {least} to {most}");
            return Err(Status::invalid_argument(range));
        }
        let invocation = Invocation::new(&said, priority);
        let operations = match self.farm.execute(digest, skip_cache, &invocation).await {
            Ok(executing) => stages(executing),
            // The field in which clients look for it.
            Err(failure) => failed(digest, failure),
        };
        Ok(Response::new(operations))
    }

    async fn wait_execution(
        &self,
        request: Request<WaitExecutionRequest>,
    ) -> Result<Response<Operations>, Status> {
        let invocation = Invocation::new(&metadata(request.metadata()), 0);
        let name = request.into_inner().name;
        let found = self.farm.operation(&name, &invocation).await;
        let found = found.map_err(|failure| Status::new(failure.code, failure.message))?;
        // A client then asks for the action anew.
        let unknown = || Status::not_found(format!("there is no operation {name:?}"));
        Ok(Response::new(stages(found.ok_or_else(unknown)?)))
    }
}

fn stages(executing: Executing) -> Operations {
    Box::pin(stream::unfold(Some(executing), async |executing| {
        let mut executing = executing?;
        let stage = executing.stage().await;
        let told = operation(&executing, &stage);
        let more = !matches!(stage, Stage::Completed(_));
        Some((Ok(told), more.then_some(executing)))
    }))
}

fn failed(digest: Digest, failure: Failure) -> Operations {
    let stage = Stage::Completed(Err(failure));
    let run = Run::new(digest, &Invocation::default(), String::new(), stage);
    stages(Executing::new(run, false))
}

/// Reads what a client says about the build that the request is for.
fn metadata(metadata: &MetadataMap) -> RequestMetadata {
    let header = metadata.get_bin("build.bazel.remote.execution.v2.requestmetadata-bin");
    let bytes = header.and_then(|header| header.to_bytes().ok());
    let said = bytes.and_then(|bytes| RequestMetadata::decode(bytes).ok());
    said.unwrap_or_default()
}

/// A client's wait for an action. To go away, drop it.
#[derive(Debug)]
pub struct Executing {
    pub(super) run: Arc<Run>,
    stages: watch::Receiver<Stage>,
    cached: bool,
    begun: bool,
}

impl Executing {
    pub(super) fn new(run: Arc<Run>, cached: bool) -> Self {
        run.waiting.send_modify(|count| *count += 1);
        Self {
            stages: run.stage.subscribe(),
            run,
            cached,
            begun: false,
        }
    }

    /// The action.
    pub fn action(&self) -> Digest {
        self.run.action
    }

    /// The name of the operation.
    pub fn name(&self) -> &str {
        &self.run.name
    }

    /// Returns true if the result was in the cache.
    pub fn cached(&self) -> bool {
        self.cached
    }

    /// Returns the current stage at the first call; later calls wait until it has changed.
    pub async fn stage(&mut self) -> Stage {
        if self.begun {
            // The run has the other end, so it is not closed.
            let _ = self.stages.changed().await;
        }
        self.begun = true;
        self.stages.borrow_and_update().clone()
    }
}

impl Drop for Executing {
    fn drop(&mut self) {
        self.run.waiting.send_modify(|count| *count -= 1);
    }
}

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
