//! Blobs go from worker to worker, some of which are dead, or lie.

use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;

use bazel_remote_apis::google::bytestream::byte_stream_server::{ByteStream, ByteStreamServer};
use bazel_remote_apis::google::bytestream::{
    QueryWriteStatusRequest, QueryWriteStatusResponse, ReadRequest, ReadResponse, WriteRequest,
    WriteResponse,
};
use filch_build::digest::Digest;
use filch_build::farm::FarmConfig;
use filch_build::reapi::execution_stage::Value;
use filch_build::worker::remote::{RunningWorker, StartError};
use futures_util::{Stream, stream};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};

use super::together::{config, until, worker};
use crate::client::{Client, Operations, coordinator, output};
use crate::coordinator::fake::{Fake, holder};

pub(crate) fn impatient() -> FarmConfig {
    FarmConfig {
        patience: std::time::Duration::ZERO,
        near_size: 1,
        ..FarmConfig::default()
    }
}

/// Makes a blob of five million bytes that only one worker has. The worker is busy then, so another
/// one has to run the action that the first is nearer to.
pub(crate) async fn made(client: &Client) -> (Digest, Operations) {
    let script = "head -c 5000000 /dev/zero > out";
    let make = client.script(script, &[], &["out"]).await;
    let made = output(&client.result(make).await);
    (made, busy(client).await)
}

/// Runs an action that needs that blob.
pub(crate) async fn take(client: &Client, made: Digest) {
    let result = client.sh("wc -c < in", &[("in", made)]).await;
    assert_eq!(result.stdout_raw, b"5000000\n");
}

/// Starts an action that a worker runs for ever.
async fn busy(client: &Client) -> Operations {
    let mut busy = client.begin("sleep 1000").await;
    busy.stage(Value::Executing).await;
    busy
}

async fn falls_back(address: SocketAddr) {
    let (server, client) = coordinator(impatient()).await;
    let input = client.put("an input").await;
    let holder = holder("holder", &address.to_string(), &[input]);
    let _holder = Fake::greet(&client, holder).await;
    let _busy = busy(&client).await;
    let folder = TempDir::new().unwrap();
    let worker = worker(server.address(), "honest", folder.path()).await;
    until(&server, |farm| farm.workers.len() == 2).await;
    let result = client.sh("cat input", &[("input", input)]).await;
    assert_eq!(result.stdout_raw, b"an input");
    let traffic = worker.traffic();
    assert_eq!((traffic.failed, traffic.from_workers), (1, 0));
    assert_eq!(traffic.from_coordinator, 1);
}

#[tokio::test]
async fn a_dead_worker_costs_one_try() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    falls_back(address).await;
}

#[tokio::test]
async fn a_lying_worker_costs_one_try() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let incoming = stream::unfold(listener, async |listener| {
        Some((listener.accept().await.map(|(stream, _)| stream), listener))
    });
    let server = Server::builder().add_service(ByteStreamServer::new(Liar));
    tokio::spawn(server.serve_with_incoming(incoming));
    falls_back(address).await;
}

/// Serves wrong bytes of the right length.
struct Liar;

#[tonic::async_trait]
impl ByteStream for Liar {
    type ReadStream = Pin<Box<dyn Stream<Item = Result<ReadResponse, Status>> + Send>>;

    async fn read(
        &self,
        request: Request<ReadRequest>,
    ) -> Result<Response<Self::ReadStream>, Status> {
        assert!(request.metadata().contains_key("authorization"));
        let data = b"AN INPUT".to_vec();
        let answers = stream::iter([Ok(ReadResponse { data })]);
        Ok(Response::new(Box::pin(answers)))
    }

    async fn write(
        &self,
        _: Request<Streaming<WriteRequest>>,
    ) -> Result<Response<WriteResponse>, Status> {
        Err(Status::unimplemented("no"))
    }

    async fn query_write_status(
        &self,
        _: Request<QueryWriteStatusRequest>,
    ) -> Result<Response<QueryWriteStatusResponse>, Status> {
        Err(Status::unimplemented("no"))
    }
}

#[tokio::test]
async fn a_worker_says_an_address_that_others_can_call() {
    let (server, _) = coordinator(impatient()).await;
    let folder = TempDir::new().unwrap();
    let mut config = config(server.address(), "a", folder.path());
    let listen = config.listen.as_mut().unwrap();
    listen.at = (Ipv4Addr::UNSPECIFIED, 0).into();
    let error = RunningWorker::start(config.clone()).await.unwrap_err();
    assert!(matches!(error, StartError::Address { .. }), "{error}");
    config.listen.as_mut().unwrap().address = Some("http://here:1".to_owned());
    let _worker = RunningWorker::start(config).await.unwrap();
    until(&server, |farm| farm.workers.len() == 1).await;
    let address = &server.farm().snapshot().workers[0].address;
    assert_eq!(address, "http://here:1");
}
