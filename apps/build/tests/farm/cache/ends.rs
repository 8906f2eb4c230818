//! The begin and the end of a server.

use std::time::Duration;

use filch_build::digest::Digest;
use filch_build::reapi::FindMissingBlobsRequest;
use filch_build::server::{Config, Server, StartError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::Code;

use super::byte_stream::begin;
use crate::client::{refused, soon, write};
use crate::server::{noise, start, start_with};

#[tokio::test]
async fn a_port_that_is_taken_is_named() {
    let server = start().await;
    let listen = server.running.address();
    let config = Config {
        listen,
        ..Config::default()
    };
    let error = Server::start(config).await.unwrap_err();
    assert!(matches!(error, StartError::Listen { .. }));
    assert!(error.to_string().contains(&listen.to_string()), "{error}");
}

/// Requests that run when the server is asked to end are answered.
#[tokio::test]
async fn what_runs_ends() {
    let server = start().await;
    let bytes = noise(3 << 20, 1);
    let digest = Digest::of(&bytes);
    let (sender, upload) = begin(&server);
    let half = 2 << 20;
    let first = write(digest, 0, &bytes[..half], false);
    sender.send(first).await.unwrap();
    server.temporary_files(1).await;
    let (address, mut content) = (server.running.address(), server.content());
    let ended = tokio::spawn(server.running.shutdown());
    // The server takes no new connections.
    soon(async { while TcpStream::connect(address).await.is_ok() {} }).await;
    assert!(!ended.is_finished());
    let last = write(digest, half, &bytes[half..], true);
    sender.send(last).await.unwrap();
    drop(sender);
    let answer = upload.await.unwrap().unwrap().into_inner();
    assert_eq!(answer.committed_size, 3 << 20);
    soon(ended).await.unwrap();
    let request = FindMissingBlobsRequest::default();
    assert!(content.find_missing_blobs(request).await.is_err());
}

/// A request that does not end is cut off.
#[tokio::test]
async fn an_end_has_a_limit() {
    let server = start_with(|config| config.grace = Duration::from_millis(50)).await;
    let bytes = noise(3 << 20, 2);
    let (sender, upload) = begin(&server);
    let first = write(Digest::of(&bytes), 0, &bytes[..2 << 20], false);
    sender.send(first).await.unwrap();
    server.temporary_files(1).await;
    soon(server.running.shutdown()).await;
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
        streams.push(stream);
    }
    // From now on time passes when nothing else can happen.
    tokio::time::pause();
    for mut stream in streams {
        let _ = soon(stream.read_to_end(&mut Vec::new())).await;
    }
}

/// A request may be shorter than the preface of HTTP/2.
#[tokio::test]
async fn the_shortest_request_is_answered() {
    let server = start().await;
    let mut stream = TcpStream::connect(server.running.address()).await.unwrap();
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    soon(stream.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.0 404"), "{answer:?}");
}

#[tokio::test]
async fn a_method_that_is_not_there_is_named() {
    type Codec = tonic_prost::ProstCodec<FindMissingBlobsRequest, FindMissingBlobsRequest>;
    let server = start().await;
    let mut grpc = tonic::client::Grpc::new(server.channel.clone());
    grpc.ready().await.unwrap();
    let path = http::uri::PathAndQuery::from_static("/no.Service/Method");
    let request = tonic::Request::new(FindMissingBlobsRequest::default());
    let answer = grpc.unary(request, path, Codec::default()).await;
    refused(answer, Code::Unimplemented, "/no.Service/Method");
}
