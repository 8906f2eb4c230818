//! Large blobs, piece by piece: uploads that break, that are resumed, and that lie.

use std::time::Duration;

use bazel_remote_apis::google::bytestream::{QueryWriteStatusRequest, WriteRequest, WriteResponse};
use filch_build::digest::Digest;
use futures_util::{StreamExt as _, stream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::{Code, Response, Status};

use crate::client::{Client, pieces, refused, soon, write};
use crate::server::{TestServer, noise, start, start_with};

fn of(bytes: &[u8], size: usize) -> Vec<WriteRequest> {
    pieces(Digest::of(bytes), bytes, size)
}

pub(crate) async fn status(server: &TestServer, digest: Digest) -> Result<(i64, bool), Status> {
    let request = QueryWriteStatusRequest {
        resource_name: write(digest, 0, &[], false).resource_name,
    };
    let answer = server.bytes().query_write_status(request).await?;
    let answer = answer.into_inner();
    Ok((answer.committed_size, answer.complete))
}

async fn committed(server: &TestServer, digest: Digest) -> (i64, bool) {
    status(server, digest).await.unwrap()
}

async fn is_unknown(server: &TestServer, digest: Digest) {
    let why = "nothing came of the upload";
    refused(status(server, digest).await, Code::NotFound, why);
}

type Answer = Result<Response<WriteResponse>, Status>;

/// Begins an upload whose messages the test sends.
pub(crate) fn begin<R>(server: &TestServer<R>) -> (mpsc::Sender<WriteRequest>, JoinHandle<Answer>) {
    begin_by(&server.client)
}

pub(crate) fn begin_by(client: &Client) -> (mpsc::Sender<WriteRequest>, JoinHandle<Answer>) {
    let (sender, mut receiver) = mpsc::channel(1);
    let messages = stream::poll_fn(move |context| receiver.poll_recv(context));
    let mut client = client.bytes();
    let answer = tokio::spawn(async move { client.write(messages).await });
    (sender, answer)
}

/// Sends these messages, waits until the server has a file of them, and goes away.
async fn break_off(server: &TestServer, messages: Vec<WriteRequest>) {
    let gone = CancellationToken::new();
    let (messages, mut client) = (stream::iter(messages), server.bytes());
    let call = tokio::spawn({
        let gone = gone.clone();
        let write = async move { client.write(messages.chain(stream::pending())).await };
        async move { gone.run_until_cancelled_owned(write).await.is_none() }
    });
    server.temporary_files(1).await;
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
    assert_eq!(server.upload(of(&bytes, 100_000)).await.unwrap(), size);
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
        let limit = if limit == 0 { i64::MAX } else { limit };
        let to = size.min(from.saturating_add(limit)) as usize;
        assert!(
            part == bytes[from as usize..to],
            "from {from}, {limit} bytes"
        );
    }
    server.temporary_files(0).await;
}

/// Some clients wait for the answer before they close their half of the stream.
#[tokio::test]
async fn an_upload_ends_where_its_client_says_so() {
    let server = start().await;
    for bytes in [noise(100, 9), noise(3 << 20, 10)] {
        let size = bytes.len() as i64;
        let open = stream::iter(of(&bytes, 1 << 20)).chain(stream::pending());
        let answer = soon(server.bytes().write(open)).await.unwrap();
        assert_eq!(answer.into_inner().committed_size, size);
        assert_eq!(committed(&server, Digest::of(&bytes)).await, (size, true));
    }
}

#[tokio::test]
async fn an_upload_that_breaks_is_resumed() {
    let server = start().await;
    let bytes = noise(4 << 20, 3);
    let digest = Digest::of(&bytes);
    let mut messages = of(&bytes, 1 << 20);
    let rest = messages.split_off(2);
    break_off(&server, messages).await;
    let half = 2 << 20;
    soon(async { while committed(&server, digest).await != (half, false) {} }).await;
    assert!(!server.has(digest).await);
    assert_eq!(server.upload(rest).await.unwrap(), 4 << 20);
    assert!(server.read(digest).await.unwrap() == bytes);
    server.temporary_files(0).await;
}

#[tokio::test]
async fn an_upload_may_come_in_several_streams() {
    let server = start().await;
    let bytes = noise(3000, 4);
    let digest = Digest::of(&bytes);
    let mut messages = of(&bytes, 1000);
    let last = messages.split_off(2);
    assert_eq!(server.upload(messages.clone()).await.unwrap(), 2000);
    assert_eq!(committed(&server, digest).await, (2000, false));
    // A wrong offset is refused, and loses nothing of what came.
    let wrong = vec![write(digest, 1000, &bytes[1000..2000], false)];
    let answer = server.upload(wrong).await;
    refused(answer, Code::InvalidArgument, "2000 bytes came so far");
    assert_eq!(committed(&server, digest).await, (2000, false));
    // It starts from the beginning: what came before is forgotten.
    let first = messages[..1].to_vec();
    assert_eq!(server.upload(first).await.unwrap(), 1000);
    let answer = server.upload(last).await;
    refused(answer, Code::InvalidArgument, "1000 bytes came so far");
    assert_eq!(server.upload(of(&bytes, 3000)).await.unwrap(), 3000);
}

#[tokio::test]
async fn an_upload_that_breaks_and_is_not_resumed_leaves_nothing() {
    let server = start_with(|config| config.cache.resumable = Duration::ZERO).await;
    let bytes = noise(4 << 20, 5);
    break_off(&server, of(&bytes, 1 << 20)[..3].to_vec()).await;
    server.temporary_files(0).await;
    let digest = Digest::of(&bytes);
    is_unknown(&server, digest).await;
    assert!(!server.has(digest).await);
}

#[tokio::test]
async fn an_upload_that_stands_still_is_given_up() {
    let server = start_with(|config| config.cache.idle = Duration::from_millis(50)).await;
    let messages = stream::iter(of(&noise(4 << 20, 6), 1 << 20)[..2].to_vec());
    let stands_still = messages.chain(stream::pending());
    let answer = soon(server.bytes().write(stands_still)).await;
    refused(answer, Code::DeadlineExceeded, "nothing of the upload came");
    server.temporary_files(0).await;
}

#[tokio::test]
async fn two_clients_may_store_the_same_blob() {
    let server = start().await;
    let bytes = noise(3 << 20, 7);
    let mut messages = of(&bytes, 1 << 20);
    let end = messages.split_off(2);
    let (slow, first) = begin(&server);
    for message in messages {
        slow.send(message).await.unwrap();
    }
    server.temporary_files(1).await;
    let digest = server.store(&bytes).await;
    for message in end {
        slow.send(message).await.unwrap();
    }
    drop(slow);
    let answer = first.await.unwrap().unwrap().into_inner();
    assert_eq!(answer.committed_size, 3 << 20);
    assert!(server.read(digest).await.unwrap() == bytes);
    server.temporary_files(0).await;
}

#[tokio::test]
async fn uploads_that_lie_store_nothing() {
    let server = start_with(|config| config.limits.blob = 8 << 20).await;
    let bytes = noise(3 << 20, 8);
    let digest = Digest::of(&bytes);
    let other = Digest::of(&bytes[1..]);
    let good = of(&bytes, 1 << 20);
    let sized = |size| Digest::from_hash(*digest.hash(), size);
    let (larger, smaller) = (sized((3 << 20) + 1), sized((3 << 20) - 1));
    let renamed = |wrong: Digest| {
        let mut messages = good.clone();
        let name = write(wrong, 0, &[], false).resource_name;
        messages
            .iter_mut()
            .for_each(|it| it.resource_name = name.clone());
        messages
    };
    let changed = |at: usize, change: &dyn Fn(&mut WriteRequest)| {
        let mut messages = good.clone();
        change(&mut messages[at]);
        messages
    };
    let named = |it: &mut WriteRequest| {
        it.resource_name = write(other, 0, &[], false).resource_name;
    };
    for (messages, why) in [
        (vec![], "without a message"),
        (renamed(other), "more bytes than"),
        (renamed(larger), "are those of"),
        (renamed(smaller), "more bytes than"),
        (renamed(sized(i64::MAX as u64)), "8388608 bytes at most"),
        (changed(1, &|it| it.finish_write = true), "are those of"),
        (changed(1, &|it| it.write_offset += 1), "said to be at"),
        (changed(0, &|it| it.write_offset = -1), "said to be at"),
        (changed(0, &|it| it.write_offset = 1 << 20), "said to be at"),
        (changed(1, &named), "two resources"),
    ] {
        refused(server.upload(messages).await, Code::InvalidArgument, why);
    }
    for digest in [digest, other, larger, smaller] {
        assert!(!server.has(digest).await, "{digest}");
        is_unknown(&server, digest).await;
    }
    server.temporary_files(0).await;
}
