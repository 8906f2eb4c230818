//! A coordinator, and a client of it.

use std::net::SocketAddr;
use std::time::Duration;

use bazel_remote_apis::google::longrunning::{Operation, operation};
use bazel_remote_apis::google::rpc;
use filch_build::digest::Digest;
use filch_build::farm::FarmConfig;
use filch_build::reapi::content_addressable_storage_client::ContentAddressableStorageClient;
use filch_build::reapi::execution_client::ExecutionClient;
use filch_build::reapi::{
    Action, ActionResult, BatchUpdateBlobsRequest, Command, Directory, ExecuteOperationMetadata,
    ExecuteRequest, ExecuteResponse, FileNode, WaitExecutionRequest, batch_update_blobs_request,
    execution_stage,
};
use filch_build::server::{Config, Running, Server};
use prost::Message;
use tokio::time::timeout;
use tonic::Streaming;
use tonic::transport::{Channel, Endpoint};

/// The time limit of a wait: after it, the test fails.
pub(crate) const LONG: Duration = Duration::from_secs(30);

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
        let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
        let channel = endpoint.tcp_nodelay(true).connect().await.unwrap();
        Self { channel }
    }

    pub(crate) async fn put(&self, bytes: impl Into<Vec<u8>>) -> Digest {
        let bytes = bytes.into();
        let digest = Digest::of(&bytes);
        let request = BatchUpdateBlobsRequest {
            requests: vec![batch_update_blobs_request::Request {
                digest: Some(digest.into()),
                data: bytes,
                ..Default::default()
            }],
            ..Default::default()
        };
        let mut client = ContentAddressableStorageClient::new(self.channel.clone());
        let stored = client
            .batch_update_blobs(request)
            .await
            .unwrap()
            .into_inner();
        let status = stored.responses[0].status.clone().unwrap_or_default();
        assert_eq!(status.code, 0, "{}", status.message);
        digest
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
            arguments: ["/bin/sh", "-c", script].map(String::from).to_vec(),
            output_paths: outputs.iter().map(ToString::to_string).collect(),
            ..Default::default()
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
        let file = |(name, digest): (&str, Digest)| FileNode {
            name: name.to_owned(),
            digest: Some(digest.into()),
            ..Default::default()
        };
        let root = Directory {
            files: files.into_iter().map(file).collect(),
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

    pub(crate) async fn ask(
        &self,
        action: Digest,
        skip: bool,
    ) -> Result<Operations, tonic::Status> {
        let request = ExecuteRequest {
            skip_cache_lookup: skip,
            action_digest: Some(action.into()),
            ..Default::default()
        };
        let mut client = ExecutionClient::new(self.channel.clone());
        let stream = client.execute(request).await?.into_inner();
        Ok(Operations { stream })
    }

    pub(crate) async fn wait(&self, name: &str) -> Result<Operations, tonic::Status> {
        let name = name.to_owned();
        let mut client = ExecutionClient::new(self.channel.clone());
        let stream = client.wait_execution(WaitExecutionRequest { name }).await?;
        let stream = stream.into_inner();
        Ok(Operations { stream })
    }

    /// Runs the action to its end.
    pub(crate) async fn run(&self, action: Digest) -> ExecuteResponse {
        self.execute(action).await.end().await
    }

    /// Runs the action, which must have a result.
    pub(crate) async fn result(&self, action: Digest) -> ActionResult {
        let response = self.run(action).await;
        let status = response.status.unwrap_or_default();
        assert_eq!(status.code, 0, "{}", status.message);
        response.result.unwrap()
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

    /// Waits for the action to fail; returns its status.
    pub(crate) async fn failure(self) -> rpc::Status {
        let status = self.end().await.status.unwrap_or_default();
        assert_ne!(status.code, 0, "it did not fail");
        status
    }
}

pub(crate) fn stage(operation: &Operation) -> execution_stage::Value {
    let metadata = operation.metadata.as_ref().unwrap();
    ExecuteOperationMetadata::decode(&metadata.value[..])
        .unwrap()
        .stage()
}
