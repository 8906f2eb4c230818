//! Blobs that travel compressed.

use async_compression::tokio::write::{ZstdDecoder, ZstdEncoder};
use bazel_remote_apis::google::bytestream::{ReadRequest, WriteRequest};
use filch_build::digest::Digest;
use futures_util::TryStreamExt as _;
use tokio::io::AsyncWriteExt as _;
use tonic::{Code, Status};

use crate::client::{pieces, refused};
use crate::server::{TestServer, noise, start};

async fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZstdEncoder::new(Vec::new());
    encoder.write_all(bytes).await.unwrap();
    encoder.shutdown().await.unwrap();
    encoder.into_inner()
}

/// Makes the messages of an upload of compressed bytes.
fn upload(digest: Digest, bytes: &[u8]) -> Vec<WriteRequest> {
    let mut messages = pieces(digest, bytes, 100_000);
    for message in &mut messages {
        let name = &message.resource_name;
        message.resource_name = name.replace("/blobs", "/compressed-blobs/zstd");
    }
    messages
}

async fn read(server: &TestServer, digest: Digest, offset: i64) -> Result<Vec<u8>, Status> {
    let request = ReadRequest {
        resource_name: format!("compressed-blobs/zstd/{digest}"),
        read_offset: offset,
        ..ReadRequest::default()
    };
    let answers = server.bytes().read(request).await?.into_inner();
    let pieces: Vec<_> = answers.map_ok(|it| it.data).try_collect().await?;
    let mut decoder = ZstdDecoder::new(Vec::new());
    decoder.write_all(&pieces.concat()).await.unwrap();
    decoder.shutdown().await.unwrap();
    Ok(decoder.into_inner())
}

#[tokio::test]
async fn a_blob_goes_and_comes_compressed() {
    let server = start().await;
    let bytes = [noise(1 << 20, 1), vec![0; 5 << 20]].concat();
    let digest = Digest::of(&bytes);
    let sent = compressed(&bytes).await;
    let size = server.upload(upload(digest, &sent)).await;
    assert_eq!(size.unwrap(), sent.len() as i64);
    assert!(server.read(digest).await.unwrap() == bytes);
    // It is there, so nobody needs the size.
    let again = server.upload(upload(digest, &sent)).await;
    assert_eq!(again.unwrap(), -1);
    for from in [0, 1, 3 << 20, bytes.len()] {
        let part = read(&server, digest, from as i64).await.unwrap();
        assert!(part == bytes[from..], "from {from}");
    }
    server.temporary_files(0).await;
}

#[tokio::test]
async fn compressed_uploads_that_lie_store_nothing() {
    let server = start().await;
    let bytes = noise(1 << 20, 2);
    let digest = Digest::of(&bytes);
    let good = compressed(&bytes).await;
    let other = compressed(&noise(1 << 20, 3)).await;
    let bomb = compressed(&vec![0; 1 << 30]).await;
    let longer = [&good[..], &compressed(b"more").await].concat();
    let mut open = upload(digest, &good);
    open.last_mut().unwrap().finish_write = false;
    let mut late = upload(digest, &good);
    late[1].write_offset += 1;
    for (messages, why) in [
        (upload(digest, &other), "are those of"),
        (upload(digest, &bomb), "more bytes than"),
        (upload(digest, &longer), "more bytes than"),
        (upload(digest, &good[..good.len() - 1]), "not zstd"),
        (upload(digest, &bytes), "not zstd"),
        (open, "not finished"),
        (late, "said to be at"),
    ] {
        refused(server.upload(messages).await, Code::InvalidArgument, why);
    }
    assert!(!server.has(digest).await);
    server.temporary_files(0).await;
}
