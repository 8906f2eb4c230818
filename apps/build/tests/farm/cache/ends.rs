//! The begin and the end of a server.

use std::time::Duration;

use filch_build::digest::Digest;
use filch_build::reapi::FindMissingBlobsRequest;
use filch_build::server::{Config, Server, StartError};
use futures_util::{StreamExt as _, stream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tonic::Code;

use crate::server::{LONG, count, eventually, noise, refused, start, start_with, write};

#[tokio::test]
async fn a_port_that_is_taken_is_named() {
    let server = start().await;
    let config = Config {
        listen: server.running.address(),
        ..Config::default()
    };
    let error = Server::start(config).await.unwrap_err();
    assert!(matches!(error, StartError::Listen { .. }));
    assert!(
        error
            .to_string()
            .contains(&server.running.address().to_string()),
        "{error}"
    );
}

/// Requests that run when the server is asked to end are answered.
#[tokio::test]
async fn what_runs_ends() {
    let server = start().await;
    let bytes = noise(3 << 20, 1);
    let digest = Digest::of(&bytes);
    let (sender, mut receiver) = mpsc::channel(1);
    let mut client = server.bytes();
    let upload = tokio::spawn(async move {
        client
            .write(stream::poll_fn(move |context| receiver.poll_recv(context)))
            .await
    });
    let half = 2 << 20;
    sender
        .send(write(digest, 0, &bytes[..half], false))
        .await
        .unwrap();
    let folder = server.folder.path().join("temporary");
    eventually("a file of the upload", || count(&folder) == 1).await;
    let (address, mut content) = (server.running.address(), server.content());
    let ended = tokio::spawn(server.running.shutdown());
    // The server takes no new connections.
    let closed = async { while TcpStream::connect(address).await.is_ok() {} };
    assert!(
        timeout(LONG, closed).await.is_ok(),
        "the server still takes connections"
    );
    assert!(!ended.is_finished());
    sender
        .send(write(digest, half, &bytes[half..], true))
        .await
        .unwrap();
    drop(sender);
    let answer = upload.await.unwrap().unwrap().into_inner();
    assert_eq!(answer.committed_size, 3 << 20);
    assert!(
        timeout(LONG, ended).await.is_ok(),
        "the server does not end"
    );
    let answer = content
        .find_missing_blobs(FindMissingBlobsRequest::default())
        .await;
    assert!(answer.is_err());
}

/// A request that does not end is cut off.
#[tokio::test]
async fn an_end_has_a_limit() {
    let server = start_with(|config| config.grace = Duration::from_millis(50)).await;
    let bytes = noise(3 << 20, 2);
    let digest = Digest::of(&bytes);
    let first = stream::iter([write(digest, 0, &bytes[..2 << 20], false)]);
    let mut client = server.bytes();
    let upload = tokio::spawn(async move { client.write(first.chain(stream::pending())).await });
    let folder = server.folder.path().join("temporary");
    eventually("a file of the upload", || count(&folder) == 1).await;
    let ended = timeout(LONG, server.running.shutdown()).await;
    assert!(ended.is_ok(), "the server waits for ever");
    let status = upload.await.unwrap().expect_err("it never ended");
    assert_ne!(status.code(), Code::Ok);
}

/// The server does not wait for a client that sends nothing, or nothing more.
#[tokio::test]
async fn a_silent_client_is_left() {
    let server = start().await;
    let mut streams = Vec::new();
    for begin in [
        "",
        "PRI * HTTP/2.0\r\n",
        "GET / HTTP",
        "GET /status HTTP/1.1\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(server.running.address()).await.unwrap();
        stream.write_all(begin.as_bytes()).await.unwrap();
        streams.push((begin, stream));
    }
    // From now on time passes when nothing else can happen.
    tokio::time::pause();
    for (begin, mut stream) in streams {
        let mut answer = Vec::new();
        let ended = timeout(LONG, stream.read_to_end(&mut answer)).await;
        assert!(ended.is_ok(), "it still waits after {begin:?}");
    }
}

#[tokio::test]
async fn a_method_that_is_not_there_is_named() {
    let server = start().await;
    let mut grpc = tonic::client::Grpc::new(crate::server::channel(server.running.address()).await);
    grpc.ready().await.unwrap();
    let path = http::uri::PathAndQuery::from_static("/no.Service/Method");
    let codec =
        tonic_prost::ProstCodec::<FindMissingBlobsRequest, FindMissingBlobsRequest>::default();
    let request = tonic::Request::new(FindMissingBlobsRequest::default());
    let answer = grpc.unary(request, path, codec).await;
    refused(answer, Code::Unimplemented, "/no.Service/Method");
}
