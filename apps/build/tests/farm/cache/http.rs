//! The simple cache of Bazel.

use filch_build::digest::Digest;
use futures_util::stream;
use http_body_util::StreamBody;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::server::http_types::request;
use crate::server::{count, eventually, http, noise, start, start_with};

#[tokio::test]
async fn a_blob_is_put_and_got() {
    let server = start().await;
    let address = server.running.address();
    for size in [0, 1, 100_000, (3 << 20) + 1] {
        let bytes = noise(size, 1);
        let digest = Digest::of(&bytes);
        let path = format!("/cas/{}", digest.hex());
        if size > 0 {
            assert_eq!(http(address, request("GET", &path), "").await.status, 404);
            assert_eq!(http(address, request("HEAD", &path), "").await.status, 404);
        }
        assert_eq!(
            http(address, request("PUT", &path), bytes.clone())
                .await
                .status,
            200
        );
        let head = http(address, request("HEAD", &path), "").await;
        assert_eq!(head.headers["content-length"], size.to_string());
        assert_eq!(head.body.unwrap().len(), 0);
        let answer = http(address, request("GET", &path), "").await;
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
    let stream = TcpStream::connect(server.running.address()).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let chunks: Vec<_> = bytes
        .chunks(1 << 18)
        .map(bytes::Bytes::copy_from_slice)
        .collect();
    let frames = chunks
        .into_iter()
        .map(|chunk| Ok::<_, std::io::Error>(hyper::body::Frame::data(chunk)));
    let request = request("PUT", &format!("/cas/{}", digest.hex()))
        .header("host", "x")
        .body(StreamBody::new(stream::iter(frames)))
        .unwrap();
    assert_eq!(sender.send_request(request).await.unwrap().status(), 200);
    assert!(server.read(digest).await.unwrap() == bytes);
}

#[tokio::test]
async fn what_is_wrong_is_refused() {
    let server = start_with(|config| config.limits.blob = 1 << 20).await;
    let address = server.running.address();
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
        let answer = http(address, request(method, &path), body).await;
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text());
    }
    let compressed = request("PUT", &good).header("content-encoding", "gzip");
    assert_eq!(http(address, compressed, "right").await.status, 415);
    assert!(!server.has(digest).await);
    server.no_temporary_files().await;
}

#[tokio::test]
async fn an_instance_has_its_folder() {
    let server = start_with(|config| config.cache.instance = "team/main".into()).await;
    let address = server.running.address();
    let hex = Digest::of(b"bytes").hex();
    let put = |path: String| http(address, request("PUT", &path), "bytes");
    assert_eq!(put(format!("/cas/{hex}")).await.status, 404);
    assert_eq!(put(format!("/team/main/cas/{hex}")).await.status, 200);
    let answer = http(
        address,
        request("GET", &format!("/team/main/cas/{hex}")),
        "",
    )
    .await;
    assert_eq!(answer.text(), "bytes");
}

/// The connection breaks after half of an upload.
#[tokio::test]
async fn an_upload_that_breaks_leaves_nothing() {
    let server = start().await;
    let bytes = noise(4 << 20, 3);
    let digest = Digest::of(&bytes);
    let mut stream = TcpStream::connect(server.running.address()).await.unwrap();
    let head = format!(
        "PUT /cas/{} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n",
        digest.hex(),
        bytes.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&bytes[..2 << 20]).await.unwrap();
    let folder = server.folder.path().join("temporary");
    eventually("a file of the upload", || count(&folder) == 1).await;
    drop(stream);
    server.no_temporary_files().await;
    assert!(!server.has(digest).await);
}

#[tokio::test]
async fn an_upload_that_stands_still_is_given_up() {
    let idle = std::time::Duration::from_millis(50);
    let server = start_with(|config| config.cache.idle = idle).await;
    let mut stream = TcpStream::connect(server.running.address()).await.unwrap();
    let head = format!(
        "PUT /cas/{} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1",
        "0".repeat(64)
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let read = tokio::time::timeout(crate::server::LONG, stream.read_to_string(&mut answer)).await;
    assert!(read.is_ok(), "the server waits for ever");
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}
