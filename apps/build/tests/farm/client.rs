//! A client of a coordinator: of its cache, and of execution.

use std::net::SocketAddr;
use std::time::Duration;

use bazel_remote_apis::google::bytestream::byte_stream_client::ByteStreamClient;
use bazel_remote_apis::google::bytestream::{ReadRequest, WriteRequest};
use bazel_remote_apis::google::longrunning::{Operation, operation};
use bazel_remote_apis::google::rpc;
use filch_build::digest::Digest;
use filch_build::farm::FarmConfig;
use filch_build::reapi::action_cache_client::ActionCacheClient;
use filch_build::reapi::content_addressable_storage_client::ContentAddressableStorageClient;
use filch_build::reapi::execution_client::ExecutionClient;
use filch_build::reapi::{
    Action, ActionResult, BatchUpdateBlobsRequest, Command, Directory, ExecuteOperationMetadata,
    ExecuteRequest, ExecuteResponse, FileNode, FindMissingBlobsRequest, GetActionResultRequest,
    OutputFile, UpdateActionResultRequest, WaitExecutionRequest, batch_update_blobs_request,
    execution_stage,
};
use filch_build::server::{Config, Running, Server};
use futures_util::stream;
use prost::Message;
use tokio::time::timeout;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

/// The time limit of a wait: after it, the test fails.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Waits for something that must come.
pub(crate) async fn soon<F: Future>(what: F) -> F::Output {
    timeout(LONG, what).await.expect("it comes")
}

/// Starts a coordinator that keeps everything in memory.
pub(crate) async fn coordinator(farm: FarmConfig) -> (Running, Client) {
    let config = Config {
        farm,
        ..Config::default()
    };
    let server = Server::start(config).await.unwrap();
    let client = Client::new(server.address()).await;
    (server, client)
}

/// A client of a coordinator.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) channel: Channel,
}

impl Client {
    pub(crate) async fn new(address: SocketAddr) -> Self {
        let endpoint = Channel::from_shared(format!("http://{address}")).unwrap();
        let channel = endpoint.tcp_nodelay(true).connect().await.unwrap();
        Self { channel }
    }

    pub(crate) fn content(&self) -> ContentAddressableStorageClient<Channel> {
        ContentAddressableStorageClient::new(self.channel.clone())
    }

    pub(crate) fn bytes(&self) -> ByteStreamClient<Channel> {
        ByteStreamClient::new(self.channel.clone())
    }

    pub(crate) fn actions(&self) -> ActionCacheClient<Channel> {
        ActionCacheClient::new(self.channel.clone())
    }

    pub(crate) fn execution(&self) -> ExecutionClient<Channel> {
        ExecutionClient::new(self.channel.clone())
    }

    /// Stores a blob by `BatchUpdateBlobs`.
    pub(crate) async fn put(&self, bytes: impl Into<Vec<u8>>) -> Digest {
        let bytes = bytes.into();
        let digest = Digest::of(&bytes);
        let request = batch(&[(digest, &bytes)]);
        let stored = self.content().batch_update_blobs(request).await;
        let blob = stored.unwrap().into_inner().responses.remove(0);
        let status = blob.status.unwrap();
        assert_eq!(status.code, 0, "{}", status.message);
        digest
    }

    /// Stores a blob by `ByteStream`.
    pub(crate) async fn store(&self, bytes: &[u8]) -> Digest {
        let digest = Digest::of(bytes);
        let stored = self.upload(upload(digest, bytes)).await.unwrap();
        assert_eq!(stored, bytes.len() as i64);
        digest
    }

    /// Sends the messages of an upload; returns how many bytes the server has.
    pub(crate) async fn upload(&self, messages: Vec<WriteRequest>) -> Result<i64, Status> {
        let answer = self.bytes().write(stream::iter(messages)).await?;
        Ok(answer.into_inner().committed_size)
    }

    pub(crate) async fn missing(&self, blobs: Vec<Digest>) -> Result<Vec<Digest>, Status> {
        let request = FindMissingBlobsRequest {
            blob_digests: blobs.into_iter().map(Into::into).collect(),
            ..Default::default()
        };
        let answer = self
            .content()
            .find_missing_blobs(request)
            .await?
            .into_inner();
        let missing = answer.missing_blob_digests.iter();
        Ok(missing.map(|blob| blob.try_into().unwrap()).collect())
    }

    pub(crate) async fn has(&self, digest: Digest) -> bool {
        self.missing(vec![digest]).await.unwrap().is_empty()
    }

    /// Reads a blob by `ByteStream`.
    pub(crate) async fn read(&self, digest: Digest) -> Result<Vec<u8>, Status> {
        self.read_part(digest, 0, 0).await
    }

    pub(crate) async fn read_part(
        &self,
        digest: Digest,
        offset: i64,
        limit: i64,
    ) -> Result<Vec<u8>, Status> {
        let request = ReadRequest {
            read_offset: offset,
            read_limit: limit,
            ..read(digest)
        };
        let mut pieces = self.bytes().read(request).await?.into_inner();
        let mut bytes = Vec::new();
        while let Some(piece) = pieces.message().await? {
            bytes.extend(piece.data);
        }
        Ok(bytes)
    }

    /// Asks the cache for the result of an action.
    pub(crate) async fn known(&self, action: Digest) -> Result<ActionResult, Status> {
        let request = GetActionResultRequest {
            action_digest: Some(action.into()),
            ..Default::default()
        };
        let answer = self.actions().get_action_result(request).await?;
        Ok(answer.into_inner())
    }

    /// Stores the result of an action.
    pub(crate) async fn learn(
        &self,
        action: Digest,
        result: &ActionResult,
    ) -> Result<ActionResult, Status> {
        let request = UpdateActionResultRequest {
            action_digest: Some(action.into()),
            action_result: Some(result.clone()),
            ..Default::default()
        };
        let answer = self.actions().update_action_result(request).await?;
        Ok(answer.into_inner())
    }

    pub(crate) async fn message(&self, message: &impl Message) -> Digest {
        self.put(message.encode_to_vec()).await
    }

    /// Makes an action that runs `sh -c script` beside these files.
    pub(crate) async fn script(
        &self,
        script: &str,
        files: &[(&str, Digest)],
        outputs: &[&str],
    ) -> Digest {
        let command = Command {
            output_paths: outputs.iter().map(ToString::to_string).collect(),
            ..sh(script)
        };
        self.action(&command, files, Action::default()).await
    }

    pub(crate) async fn action(
        &self,
        command: &Command,
        files: &[(&str, Digest)],
        action: Action,
    ) -> Digest {
        let mut files: Vec<_> = files.to_vec();
        files.sort_unstable();
        let root = Directory {
            files: files
                .into_iter()
                .map(|(name, blob)| file(name, blob))
                .collect(),
            ..Default::default()
        };
        let action = Action {
            command_digest: Some(self.message(command).await.into()),
            input_root_digest: Some(self.message(&root).await.into()),
            ..action
        };
        self.message(&action).await
    }

    pub(crate) async fn execute(&self, action: Digest) -> Operations {
        self.ask(action, false).await.unwrap()
    }

    /// Begins to run `sh -c script`.
    pub(crate) async fn begin(&self, script: &str) -> Operations {
        self.execute(self.script(script, &[], &[]).await).await
    }

    pub(crate) async fn ask(&self, action: Digest, skip: bool) -> Result<Operations, Status> {
        let request = ExecuteRequest {
            skip_cache_lookup: skip,
            action_digest: Some(action.into()),
            ..Default::default()
        };
        let stream = self.execution().execute(request).await?.into_inner();
        Ok(Operations { stream })
    }

    pub(crate) async fn wait(&self, name: &str) -> Result<Operations, Status> {
        let name = name.to_owned();
        let request = WaitExecutionRequest { name };
        let answer = self.execution().wait_execution(request).await?;
        let stream = answer.into_inner();
        Ok(Operations { stream })
    }

    /// Runs the action to its end.
    pub(crate) async fn run(&self, action: Digest) -> ExecuteResponse {
        self.execute(action).await.end().await
    }

    /// Runs the action, which must have a result.
    pub(crate) async fn result(&self, action: Digest) -> ActionResult {
        self.execute(action).await.result().await
    }

    /// Runs `sh -c script`, which must have a result.
    pub(crate) async fn sh(&self, script: &str, files: &[(&str, Digest)]) -> ActionResult {
        self.result(self.script(script, files, &[]).await).await
    }
}

/// The operations that the server sends for an action.
#[derive(Debug)]
pub(crate) struct Operations {
    pub(crate) stream: Streaming<Operation>,
}

impl Operations {
    pub(crate) async fn next(&mut self) -> Operation {
        let next = soon(self.stream.message()).await;
        next.expect("no error").expect("more")
    }

    /// Waits for that stage.
    pub(crate) async fn stage(&mut self, wanted: execution_stage::Value) -> Operation {
        loop {
            let operation = self.next().await;
            if stage(&operation) == wanted {
                return operation;
            }
        }
    }

    pub(crate) async fn end(mut self) -> ExecuteResponse {
        let operation = self.stage(execution_stage::Value::Completed).await;
        assert!(operation.done);
        let more = soon(self.stream.message()).await.unwrap();
        assert_eq!(more, None, "that was the last one");
        match operation.result {
            Some(operation::Result::Response(any)) => {
                ExecuteResponse::decode(&any.value[..]).unwrap()
            }
            other => panic!("no response: {other:?}"),
        }
    }

    /// Waits for the result of the action, which must have one.
    pub(crate) async fn result(self) -> ActionResult {
        let response = self.end().await;
        let status = response.status.unwrap_or_default();
        assert_eq!(status.code, 0, "{}", status.message);
        response.result.unwrap()
    }

    /// Waits for the action to end with this exit code.
    pub(crate) async fn ends_with(self, exit_code: i32) {
        assert_eq!(self.result().await.exit_code, exit_code);
    }

    /// Waits for the action to fail with this code; returns its status.
    pub(crate) async fn failure(self, code: Code) -> rpc::Status {
        let status = self.end().await.status.unwrap_or_default();
        assert_eq!(status.code, code as i32, "{}", status.message);
        status
    }
}

pub(crate) fn stage(operation: &Operation) -> execution_stage::Value {
    let metadata = operation.metadata.as_ref().unwrap();
    let metadata = ExecuteOperationMetadata::decode(&metadata.value[..]);
    metadata.unwrap().stage()
}

pub(crate) fn sh(script: &str) -> Command {
    Command {
        arguments: ["/bin/sh", "-c", script].map(String::from).to_vec(),
        ..Default::default()
    }
}

pub(crate) fn file(name: &str, blob: Digest) -> FileNode {
    FileNode {
        name: name.to_owned(),
        digest: Some(blob.into()),
        ..Default::default()
    }
}

/// Makes a result with one file.
pub(crate) fn with_output(path: &str, blob: Digest) -> ActionResult {
    ActionResult {
        output_files: vec![OutputFile {
            path: path.into(),
            digest: Some(blob.into()),
            ..Default::default()
        }],
        ..Default::default()
    }
}

pub(crate) fn output(result: &ActionResult) -> Digest {
    let digest = result.output_files[0].digest.as_ref();
    digest.unwrap().try_into().unwrap()
}

/// Makes the request for a blob.
pub(crate) fn read(digest: Digest) -> ReadRequest {
    ReadRequest {
        resource_name: format!("blobs/{digest}"),
        ..Default::default()
    }
}

/// Makes the messages of an upload.
pub(crate) fn upload(digest: Digest, bytes: &[u8]) -> Vec<WriteRequest> {
    pieces(digest, bytes, 1 << 20)
}

/// Makes the messages of an upload, of so many bytes each.
pub(crate) fn pieces(digest: Digest, bytes: &[u8], size: usize) -> Vec<WriteRequest> {
    let mut messages = Vec::new();
    let mut offset = 0;
    while messages.is_empty() || offset < bytes.len() {
        let to = bytes.len().min(offset + size);
        messages.push(write(digest, offset, &bytes[offset..to], to == bytes.len()));
        offset = to;
    }
    messages
}

/// Makes a message of an upload.
pub(crate) fn write(digest: Digest, offset: usize, bytes: &[u8], finish: bool) -> WriteRequest {
    WriteRequest {
        resource_name: format!("uploads/5b1e4c2a-0001/blobs/{digest}"),
        write_offset: offset as i64,
        finish_write: finish,
        data: bytes.to_vec(),
    }
}

pub(crate) fn batch(blobs: &[(Digest, &[u8])]) -> BatchUpdateBlobsRequest {
    let request = |&(digest, data): &(Digest, &[u8])| batch_update_blobs_request::Request {
        digest: Some(digest.into()),
        data: data.to_vec(),
        ..Default::default()
    };
    BatchUpdateBlobsRequest {
        requests: blobs.iter().map(request).collect(),
        ..Default::default()
    }
}

#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(answer: Result<T, Status>, code: Code, why: &str) {
    let status = answer.expect_err("it should have been refused");
    assert_eq!(status.code(), code, "{status}");
    assert!(status.message().contains(why), "{status}");
}
