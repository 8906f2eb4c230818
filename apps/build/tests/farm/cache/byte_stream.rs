//! Large blobs, piece by piece: uploads that break, that are resumed, and that lie.

use std::time::Duration;

use bazel_remote_apis::google::bytestream::{QueryWriteStatusRequest, ReadRequest, WriteRequest};
use filch_build::digest::Digest;
use futures_util::stream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tonic::Code;

use crate::server::{
    LONG, TestServer, count, eventually, noise, refused, start, start_with, write,
};

/// All messages of an upload.
fn pieces(bytes: &[u8], size: usize) -> Vec<WriteRequest> {
    let digest = Digest::of(bytes);
    let chunks = bytes.chunks(size).enumerate();
    chunks
        .map(|(number, chunk)| {
            let last = (number + 1) * size >= bytes.len();
            write(digest, number * size, chunk, last)
        })
        .collect()
}

async fn committed(server: &TestServer, digest: Digest) -> (i64, bool) {
    let request = QueryWriteStatusRequest {
        resource_name: write(digest, 0, &[], false).resource_name,
    };
    let answer = server.bytes().query_write_status(request).await.unwrap();
    let answer = answer.into_inner();
    (answer.committed_size, answer.complete)
}

async fn upload(server: &TestServer, messages: Vec<WriteRequest>) -> Result<i64, tonic::Status> {
    let answer = server.bytes().write(stream::iter(messages)).await?;
    Ok(answer.into_inner().committed_size)
}

/// Sends these messages, waits until the server has a file of them, and goes away.
async fn break_off(server: &TestServer, messages: Vec<WriteRequest>) {
    let (sender, mut receiver) = mpsc::channel(1);
    let stream = stream::poll_fn(move |context| receiver.poll_recv(context));
    let mut client = server.bytes();
    let gone = CancellationToken::new();
    let call = tokio::spawn({
        let gone = gone.clone();
        async move {
            gone.run_until_cancelled_owned(client.write(stream))
                .await
                .is_none()
        }
    });
    for message in messages {
        sender.send(message).await.unwrap();
    }
    let folder = server.folder.path().join("temporary");
    eventually("a file of the upload", || count(&folder) == 1).await;
    gone.cancel();
    assert!(
        call.await.unwrap(),
        "the upload ended before it was broken off"
    );
}

#[tokio::test]
async fn a_large_blob_goes_and_comes_in_pieces() {
    let server = start().await;
    let bytes = noise((5 << 20) + 17, 1);
    let digest = Digest::of(&bytes);
    let size = bytes.len() as i64;
    assert_eq!(
        upload(&server, pieces(&bytes, 100_000)).await.unwrap(),
        size
    );
    assert_eq!(committed(&server, digest).await, (size, true));
    assert!(server.read(digest).await.unwrap() == bytes);
    for (from, limit) in [
        (0, 1),
        (1, 0),
        (1 << 20, 1 << 20),
        ((1 << 20) - 1, 2),
        (size - 1, 100),
        (size, 0),
        (3_000_000, i64::MAX),
    ] {
        let part = server.read_part(digest, from, limit).await.unwrap();
        let from = from as usize;
        let limit = if limit == 0 {
            usize::MAX
        } else {
            limit as usize
        };
        let to = bytes.len().min(from.saturating_add(limit));
        assert!(part == bytes[from..to], "from {from}, {limit} bytes");
    }
    server.no_temporary_files().await;
}

#[tokio::test]
async fn what_is_there_need_not_be_sent() {
    let server = start().await;
    let bytes = noise(3 << 20, 2);
    let digest = server.store(&bytes).await;
    let first = write(digest, 0, &bytes[..10], false);
    assert_eq!(upload(&server, vec![first]).await.unwrap(), 3 << 20);
    let empty = write(Digest::EMPTY, 0, &[], true);
    assert_eq!(upload(&server, vec![empty]).await.unwrap(), 0);
}

#[tokio::test]
async fn an_upload_that_breaks_is_resumed() {
    let server = start().await;
    let bytes = noise(4 << 20, 3);
    let digest = Digest::of(&bytes);
    let mut messages = pieces(&bytes, 1 << 20);
    let rest = messages.split_off(2);
    break_off(&server, messages).await;
    let half = 2 << 20;
    let parked = async { while committed(&server, digest).await != (half, false) {} };
    assert!(
        timeout(LONG, parked).await.is_ok(),
        "the upload was not kept"
    );
    assert!(!server.has(digest).await);
    assert_eq!(upload(&server, rest).await.unwrap(), 4 << 20);
    assert!(server.read(digest).await.unwrap() == bytes);
    server.no_temporary_files().await;
}

#[tokio::test]
async fn an_upload_may_come_in_several_streams() {
    let server = start().await;
    let bytes = noise(3000, 4);
    let digest = Digest::of(&bytes);
    let mut messages = pieces(&bytes, 1000);
    let last = messages.split_off(2);
    assert_eq!(upload(&server, messages.clone()).await.unwrap(), 2000);
    assert_eq!(committed(&server, digest).await, (2000, false));
    // It starts from the beginning: what came before is forgotten.
    assert_eq!(upload(&server, messages[..1].to_vec()).await.unwrap(), 1000);
    refused(
        upload(&server, last).await,
        Code::InvalidArgument,
        "1000 bytes came so far",
    );
    assert_eq!(upload(&server, pieces(&bytes, 3000)).await.unwrap(), 3000);
}

#[tokio::test]
async fn an_upload_that_breaks_and_is_not_resumed_leaves_nothing() {
    let server = start_with(|config| config.cache.resumable = Duration::ZERO).await;
    let bytes = noise(4 << 20, 5);
    break_off(&server, pieces(&bytes, 1 << 20)[..3].to_vec()).await;
    server.no_temporary_files().await;
    let digest = Digest::of(&bytes);
    assert_eq!(committed(&server, digest).await, (0, false));
    assert!(!server.has(digest).await);
}

#[tokio::test]
async fn an_upload_that_stands_still_is_given_up() {
    let server = start_with(|config| config.cache.idle = Duration::from_millis(50)).await;
    let bytes = noise(4 << 20, 6);
    let messages = stream::iter(pieces(&bytes, 1 << 20).into_iter().take(2));
    let stands_still = futures_util::StreamExt::chain(messages, stream::pending());
    let answer = timeout(LONG, server.bytes().write(stands_still)).await;
    let answer = answer.expect("the server waits for ever");
    refused(answer, Code::DeadlineExceeded, "nothing of the upload came");
    server.no_temporary_files().await;
}

#[tokio::test]
async fn two_clients_may_store_the_same_blob() {
    let server = start().await;
    let bytes = noise(3 << 20, 7);
    let digest = Digest::of(&bytes);
    let mut messages = pieces(&bytes, 1 << 20);
    let end = messages.split_off(2);
    let (slow, mut receiver) = mpsc::channel(1);
    let mut client = server.bytes();
    let first = tokio::spawn(async move {
        client
            .write(stream::poll_fn(move |context| receiver.poll_recv(context)))
            .await
    });
    for message in messages {
        slow.send(message).await.unwrap();
    }
    let folder = server.folder.path().join("temporary");
    eventually("a file of the upload", || count(&folder) == 1).await;
    assert_eq!(
        upload(&server, pieces(&bytes, 1 << 20)).await.unwrap(),
        3 << 20
    );
    for message in end {
        slow.send(message).await.unwrap();
    }
    drop(slow);
    let answer = first.await.unwrap().unwrap().into_inner();
    assert_eq!(answer.committed_size, 3 << 20);
    assert!(server.read(digest).await.unwrap() == bytes);
    server.no_temporary_files().await;
}

#[tokio::test]
async fn uploads_that_lie_store_nothing() {
    let server = start_with(|config| config.limits.blob = 8 << 20).await;
    let bytes = noise(3 << 20, 8);
    let digest = Digest::of(&bytes);
    let other = Digest::of(&bytes[1..]);
    let of = |messages: &[WriteRequest], wrong: Digest| {
        let mut messages = messages.to_vec();
        for message in &mut messages {
            message.resource_name = write(wrong, 0, &[], false).resource_name;
        }
        messages
    };
    let good = pieces(&bytes, 1 << 20);
    let larger = Digest::from_hash(*digest.hash(), (3 << 20) + 1);
    let smaller = Digest::from_hash(*digest.hash(), (3 << 20) - 1);
    let huge = Digest::from_hash(*digest.hash(), i64::MAX as u64);
    let mut after_end = good.clone();
    after_end[1].finish_write = true;
    let mut gap = good.clone();
    gap[1].write_offset += 1;
    let mut negative = good.clone();
    negative[0].write_offset = -1;
    let mut late = good.clone();
    late[0].write_offset = 1 << 20;
    let mut two_names = good.clone();
    two_names[1].resource_name = write(other, 0, &[], false).resource_name;
    for (messages, why) in [
        (vec![], "without a message"),
        (of(&good, other), "more bytes than"),
        (of(&good, larger), "are those of"),
        (of(&good, smaller), "more bytes than"),
        (of(&good, huge), "8388608 bytes at most"),
        (after_end, "after the end"),
        (gap, "said to be at"),
        (negative, "said to be at"),
        (late, "said to be at"),
        (two_names, "two resources"),
    ] {
        refused(upload(&server, messages).await, Code::InvalidArgument, why);
    }
    for digest in [digest, other, larger, smaller] {
        assert!(!server.has(digest).await, "{digest}");
        assert_eq!(committed(&server, digest).await, (0, false));
    }
    server.no_temporary_files().await;
}

#[tokio::test]
async fn names_that_lead_elsewhere_are_refused() {
    let server = start().await;
    let digest = server.store(b"some bytes").await;
    let hex = digest.hex();
    for (name, code) in [
        (
            format!("compressed-blobs/zstd/{digest}"),
            Code::Unimplemented,
        ),
        (
            "blobs/../../../../etc/passwd/10".into(),
            Code::InvalidArgument,
        ),
        (format!("blobs/../{}/10", &hex[3..]), Code::InvalidArgument),
        (format!("blobs/{hex}/-10"), Code::InvalidArgument),
        (
            format!("blobs/{hex}/99999999999999999999"),
            Code::InvalidArgument,
        ),
        (format!("blobs/{hex}"), Code::InvalidArgument),
        (format!("other/blobs/{digest}"), Code::InvalidArgument),
        (format!("blobs/{hex}/11"), Code::NotFound),
        (String::new(), Code::InvalidArgument),
    ] {
        let request = ReadRequest {
            resource_name: name.clone(),
            ..Default::default()
        };
        refused(server.bytes().read(request).await, code, "");
        if code == Code::NotFound {
            continue;
        }
        let mut message = write(digest, 0, b"some bytes", true);
        message.resource_name = match name.split_once("blobs/") {
            Some((instance, rest)) if instance.is_empty() || instance == "other/" => {
                format!("{instance}uploads/u/blobs/{rest}")
            }
            _ => format!("uploads/u/{name}"),
        };
        refused(upload(&server, vec![message.clone()]).await, code, "");
        let request = QueryWriteStatusRequest {
            resource_name: message.resource_name,
        };
        refused(server.bytes().query_write_status(request).await, code, "");
    }
    for (offset, limit, code) in [
        (-1, 0, Code::OutOfRange),
        (11, 0, Code::OutOfRange),
        (i64::MAX, 0, Code::OutOfRange),
        (0, -1, Code::InvalidArgument),
    ] {
        refused(server.read_part(digest, offset, limit).await, code, "");
    }
    assert_eq!(
        server.read_part(digest, 5, i64::MAX).await.unwrap(),
        b"bytes"
    );
}
