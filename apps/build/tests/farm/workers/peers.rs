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
use filch_build::protocol::farm_client::FarmClient;
use filch_build::protocol::from_worker::Event;
use filch_build::protocol::{Blobs, FromWorker, Hello, ToWorker};
use filch_build::reapi::execution_stage::Value;
use filch_build::worker::remote::{RunningWorker, StartError};
use futures_util::{Stream, stream};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};

use crate::client::{Client, Operations, coordinator, soon};
use crate::together::{config, until, worker};

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
    let made = client.result(make).await.output_files[0].digest.clone();
    let made = Digest::try_from(&made.unwrap()).unwrap();
    (made, busy(client).await)
}

/// Starts an action that a worker runs for ever.
async fn busy(client: &Client) -> Operations {
    let action = client.script("sleep 1000", &[], &[]).await;
    let mut busy = client.execute(action).await;
    busy.stage(Value::Executing).await;
    busy
}

#[tokio::test]
async fn an_artifact_goes_from_worker_to_worker_and_not_through_the_coordinator() {
    let (server, client) = coordinator(impatient()).await;
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let first = worker(server.address(), "first", folders[0].path()).await;
    let (made, _busy) = made(&client).await;
    let second = worker(server.address(), "second", folders[1].path()).await;
    let take = client.script("wc -c < in", &[("in", made)], &[]).await;
    assert_eq!(client.result(take).await.stdout_raw, b"5000000\n");
    assert_eq!(first.traffic().served, 1);
    let traffic = second.traffic();
    assert_eq!((traffic.from_workers, traffic.from_coordinator), (1, 0));
    assert_eq!(traffic.failed, 0);
}

/// Connects a worker that claims to have the blob, at that address; it runs one action for ever.
async fn holder(client: &Client, blob: Digest, address: SocketAddr) -> Streaming<ToWorker> {
    let hello = Hello {
        name: "holder".to_owned(),
        address: format!("http://{address}"),
        slots: 1,
        holds: Some(Blobs {
            blobs: vec![blob.into()],
        }),
    };
    let hello = FromWorker {
        event: Some(Event::Hello(hello)),
    };
    let said = stream::unfold(Some(hello), async |hello| match hello {
        Some(hello) => Some((hello, None)),
        None => std::future::pending().await,
    });
    let mut farm = FarmClient::new(client.channel.clone());
    let mut orders = farm.work(said).await.unwrap().into_inner();
    soon(orders.message()).await.unwrap();
    orders
}

async fn falls_back(address: SocketAddr) {
    let (server, client) = coordinator(impatient()).await;
    let input = client.put("an input").await;
    let _orders = holder(&client, input, address).await;
    let _busy = busy(&client).await;
    let folder = TempDir::new().unwrap();
    let worker = worker(server.address(), "honest", folder.path()).await;
    until(&server, |farm| farm.workers.len() == 2).await;
    let action = client.script("cat input", &[("input", input)], &[]).await;
    assert_eq!(client.result(action).await.stdout_raw, b"an input");
    let traffic = worker.traffic();
    assert_eq!(
        (
            traffic.failed,
            traffic.from_workers,
            traffic.from_coordinator
        ),
        (1, 0, 1)
    );
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
    let service = ByteStreamServer::new(Liar);
    tokio::spawn(
        Server::builder()
            .add_service(service)
            .serve_with_incoming(incoming),
    );
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
        Ok(Response::new(Box::pin(stream::iter([Ok(ReadResponse {
            data,
        })]))))
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
    let address = &server.farm().snapshot().await.workers[0].address;
    assert_eq!(address, "http://here:1");
}

#[tokio::test]
async fn nobody_else_reads_a_workers_blobs() {
    use bazel_remote_apis::google::bytestream::byte_stream_client::ByteStreamClient;
    let (server, client) = coordinator(FarmConfig::default()).await;
    let folder = TempDir::new().unwrap();
    let worker = worker(server.address(), "a", folder.path()).await;
    let input = client.put("an input").await;
    client
        .result(client.script("true", &[("input", input)], &[]).await)
        .await;
    let stranger = Client::new(worker.address().unwrap()).await;
    let request = ReadRequest {
        resource_name: format!("blobs/{input}"),
        ..ReadRequest::default()
    };
    let mut blobs = ByteStreamClient::new(stranger.channel);
    let refused = blobs.read(request).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::Unauthenticated);
}
