//! The simple cache of Bazel.

use std::time::Duration;

use bytes::Bytes;
use filch_build::digest::Digest;
use futures_util::stream;
use http_body_util::StreamBody;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::client::soon;
use crate::server::{connect, noise, start, start_with};

#[tokio::test]
async fn a_blob_is_put_and_got() {
    let server = start().await;
    for size in [0, 1, 100_000, (3 << 20) + 1] {
        let bytes = noise(size, 1);
        let digest = Digest::of(&bytes);
        let path = format!("/cas/{}", digest.hex());
        if size > 0 {
            server.http("GET", &path, "").await.is(404);
            server.http("HEAD", &path, "").await.is(404);
        }
        server.http("PUT", &path, bytes.clone()).await.is(200);
        let head = server.http("HEAD", &path, "").await;
        assert_eq!(head.headers["content-length"], size.to_string());
        assert_eq!(head.body.unwrap().len(), 0);
        let answer = server.http("GET", &path, "").await;
        assert!(answer.status == 200 && answer.body.unwrap() == bytes);
        assert!(server.read(digest).await.unwrap() == bytes);
    }
}

/// The blob comes without a length, in chunks.
#[tokio::test]
async fn a_blob_may_come_in_chunks() {
    let server = start().await;
    let bytes = noise(3 << 20, 2);
    let digest = Digest::of(&bytes);
    let mut sender = connect(server.running.address()).await;
    let chunks = bytes.chunks(1 << 18).map(Bytes::copy_from_slice);
    let frames = chunks.map(|chunk| Ok::<_, std::io::Error>(hyper::body::Frame::data(chunk)));
    let frames = stream::iter(frames.collect::<Vec<_>>());
    let request = http::Request::put(format!("/cas/{}", digest.hex())).header("host", "x");
    let request = request.body(StreamBody::new(frames)).unwrap();
    assert_eq!(sender.send_request(request).await.unwrap().status(), 200);
    assert!(server.read(digest).await.unwrap() == bytes);
}

#[tokio::test]
async fn what_is_wrong_is_refused() {
    let server = start_with(|config| config.limits.blob = 1 << 20).await;
    let digest = Digest::of(b"right");
    let hex = digest.hex();
    let good = format!("/cas/{hex}");
    for (method, path, body, status) in [
        ("PUT", good.clone(), b"wrong".to_vec(), 400),
        ("PUT", good.clone(), b"".to_vec(), 400),
        ("PUT", good.clone(), noise((1 << 20) + 1, 1), 413),
        ("GET", good.clone(), vec![], 404),
        ("GET", "/cas/../../etc/passwd".into(), vec![], 404),
        ("GET", "/cas/..%2f..%2fetc%2fpasswd".into(), vec![], 400),
        ("PUT", "/cas/..%2f..%2ftmp%2fx".into(), vec![], 400),
        ("GET", format!("/cas/%2e%2e{}", &hex[2..]), vec![], 400),
        ("GET", format!("/ac/{}", hex.to_uppercase()), vec![], 400),
        ("GET", format!("/cas/{hex}0"), vec![], 400),
        ("GET", format!("/cas/{hex}/5"), vec![], 404),
        ("GET", format!("/other/cas/{hex}"), vec![], 404),
        ("GET", "/cas/".into(), vec![], 404),
        ("POST", good.clone(), b"right".to_vec(), 405),
        ("DELETE", good.clone(), vec![], 405),
    ] {
        let answer = server.http(method, &path, body).await;
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text());
    }
    let compressed = [("content-encoding", "gzip")];
    let answer = server.http_with("PUT", &good, &compressed, "right").await;
    answer.is(415);
    assert!(!server.has(digest).await);
    server.temporary_files(0).await;
}

#[tokio::test]
async fn an_instance_has_its_folder() {
    let server = start_with(|config| config.cache.instance = "team/main".into()).await;
    let path = format!("/cas/{}", Digest::of(b"bytes").hex());
    server.http("PUT", &path, "bytes").await.is(404);
    let path = format!("/team/main{path}");
    server.http("PUT", &path, "bytes").await.is(200);
    assert_eq!(server.http("GET", &path, "").await.text(), "bytes");
}

#[tokio::test]
async fn an_upload_that_stands_still_is_given_up() {
    let server = start_with(|config| config.cache.idle = Duration::from_millis(50)).await;
    let mut stream = TcpStream::connect(server.running.address()).await.unwrap();
    let path = format!("/cas/{}", "0".repeat(64));
    let begin = format!("PUT {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1");
    stream.write_all(begin.as_bytes()).await.unwrap();
    let mut answer = String::new();
    soon(stream.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[tokio::test]
async fn a_file_has_the_name_that_its_client_gives_it() {
    let server = start().await;
    let path = "/files//a/b%20c";
    server.http("GET", path, "").await.is(404);
    for text in ["one", "other"] {
        server.http("PUT", path, text).await.is(201);
        assert_eq!(server.http("GET", path, "").await.text(), text);
        let head = server.http("HEAD", path, "").await;
        assert_eq!(head.headers["content-length"], text.len().to_string());
    }
    server.http("GET", "/files/a/b%20c", "").await.is(404);
    let most = 64 << 20;
    server.http("PUT", path, noise(most + 1, 1)).await.is(413);
    server.http("PUT", path, noise(most, 1)).await.is(201);
    server.http("PROPFIND", "/files/folder/", "").await.is(404);
    server.http("MKCOL", "/files/folder/", "").await.is(201);
    server.http("DELETE", path, "").await.is(405);
    let server = server.restart(|config| config.cache.updates = false).await;
    server.http("PUT", path, "third").await.is(403);
    let answer = server.http("GET", path, "").await;
    assert!(answer.body.unwrap() == noise(most, 1));
}
