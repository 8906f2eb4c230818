//! A server for a test, and clients of it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bazel_remote_apis::google::bytestream::byte_stream_client::ByteStreamClient;
use bazel_remote_apis::google::bytestream::{ReadRequest, WriteRequest};
use bytes::Bytes;
use filch_build::digest::Digest;
use filch_build::reapi::action_cache_client::ActionCacheClient;
use filch_build::reapi::capabilities_client::CapabilitiesClient;
use filch_build::reapi::content_addressable_storage_client::ContentAddressableStorageClient;
use filch_build::reapi::{
    BatchUpdateBlobsRequest, FindMissingBlobsRequest, batch_update_blobs_request,
};
use filch_build::server::{Config, Running, Server};
use filch_build::storage::Location;
use futures_util::stream;
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tonic::transport::Channel;
use tonic::{Code, Status};

/// The time limit of a wait: after it, the test fails.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A server in this process or another one, with a folder of its own that is removed with it.
pub(crate) struct TestServer<R = Running> {
    pub(crate) running: R,
    pub(crate) folder: TempDir,
    pub(crate) channel: Channel,
}

pub(crate) async fn start() -> TestServer {
    start_with(|_| {}).await
}

pub(crate) async fn start_with(change: impl FnOnce(&mut Config)) -> TestServer {
    start_in(tempfile::tempdir().unwrap(), change).await
}

pub(crate) async fn start_in(folder: TempDir, change: impl FnOnce(&mut Config)) -> TestServer {
    let mut config = Config {
        storage: Location::Disk(folder.path().to_owned()),
        ..Config::default()
    };
    change(&mut config);
    let running = Server::start(config).await.unwrap();
    let channel = channel(running.address()).await;
    TestServer {
        running,
        folder,
        channel,
    }
}

pub(crate) async fn channel(address: SocketAddr) -> Channel {
    let endpoint = Channel::from_shared(format!("http://{address}")).unwrap();
    endpoint.connect().await.unwrap()
}

impl<R> TestServer<R> {
    pub(crate) fn channel(&self) -> Channel {
        self.channel.clone()
    }

    pub(crate) fn content(&self) -> ContentAddressableStorageClient<Channel> {
        ContentAddressableStorageClient::new(self.channel.clone())
    }

    pub(crate) fn bytes(&self) -> ByteStreamClient<Channel> {
        ByteStreamClient::new(self.channel.clone())
    }

    pub(crate) fn actions(&self) -> ActionCacheClient<Channel> {
        ActionCacheClient::new(self.channel.clone())
    }

    pub(crate) fn capabilities(&self) -> CapabilitiesClient<Channel> {
        CapabilitiesClient::new(self.channel.clone())
    }

    /// Stores a blob.
    pub(crate) async fn store(&self, bytes: &[u8]) -> Digest {
        let digest = Digest::of(bytes);
        let upload = stream::iter(upload(digest, bytes));
        let answer = self.bytes().write(upload).await.unwrap();
        assert_eq!(answer.into_inner().committed_size, bytes.len() as i64);
        digest
    }

    pub(crate) async fn has(&self, digest: Digest) -> bool {
        let request = FindMissingBlobsRequest {
            blob_digests: vec![digest.into()],
            ..Default::default()
        };
        let answer = self.content().find_missing_blobs(request).await.unwrap();
        answer.into_inner().missing_blob_digests.is_empty()
    }

    /// Reads a blob by `ByteStream`.
    pub(crate) async fn read(&self, digest: Digest) -> Result<Vec<u8>, Status> {
        self.read_part(digest, 0, 0).await
    }

    pub(crate) async fn read_part(
        &self,
        digest: Digest,
        offset: i64,
        limit: i64,
    ) -> Result<Vec<u8>, Status> {
        let request = ReadRequest {
            resource_name: format!("blobs/{digest}"),
            read_offset: offset,
            read_limit: limit,
        };
        let mut pieces = self.bytes().read(request).await?.into_inner();
        let mut bytes = Vec::new();
        while let Some(piece) = pieces.message().await? {
            bytes.extend(piece.data);
        }
        Ok(bytes)
    }
}

impl TestServer {
    /// Ends the server, and starts another one in its folder.
    pub(crate) async fn restart(self, change: impl FnOnce(&mut Config)) -> Self {
        drop(self.channel);
        self.running.shutdown().await;
        start_in(self.folder, change).await
    }

    /// Returns the path of a blob on the disk.
    pub(crate) fn file(&self, digest: Digest) -> PathBuf {
        let hex = digest.hex();
        self.folder.path().join("blobs").join(&hex[..2]).join(hex)
    }

    /// Waits until no upload has a file; fails otherwise.
    pub(crate) async fn no_temporary_files(&self) {
        let folder = self.folder.path().join("temporary");
        eventually("temporary files go", || count(&folder) == 0).await;
    }
}

/// Counts the files in a folder and in its subfolders.
pub(crate) fn count(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .map(|path| if path.is_dir() { count(&path) } else { 1 })
        .sum()
}

/// Waits for a condition of which nobody reports.
pub(crate) async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    assert!(timeout(LONG, wait).await.is_ok(), "did not come: {what}");
}

/// Makes the messages of an upload.
pub(crate) fn upload(digest: Digest, bytes: &[u8]) -> Vec<WriteRequest> {
    const PIECE: usize = 1 << 20;
    let mut offset = 0;
    let mut messages = Vec::new();
    while messages.is_empty() || offset < bytes.len() {
        let to = bytes.len().min(offset + PIECE);
        messages.push(write(digest, offset, &bytes[offset..to], to == bytes.len()));
        offset = to;
    }
    messages
}

/// Makes a message of an upload.
pub(crate) fn write(digest: Digest, offset: usize, bytes: &[u8], finish: bool) -> WriteRequest {
    WriteRequest {
        resource_name: format!("uploads/5b1e4c2a-0001/blobs/{digest}"),
        write_offset: offset as i64,
        finish_write: finish,
        data: bytes.to_vec(),
    }
}

pub(crate) fn batch(blobs: &[(Digest, &[u8])]) -> BatchUpdateBlobsRequest {
    let requests = blobs
        .iter()
        .map(|(digest, data)| batch_update_blobs_request::Request {
            digest: Some((*digest).into()),
            data: data.to_vec(),
            ..Default::default()
        });
    BatchUpdateBlobsRequest {
        requests: requests.collect(),
        ..Default::default()
    }
}

/// Makes bytes that differ from all around them.
pub(crate) fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    let mut bytes: Vec<u8> = (0..length.div_ceil(8)).flat_map(|_| next()).collect();
    bytes.truncate(length);
    bytes
}

#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(answer: Result<T, Status>, code: Code, why: &str) {
    let status = answer.expect_err("it should have been refused");
    assert_eq!(status.code(), code, "{status}");
    assert!(status.message().contains(why), "{status}");
}

/// Sends one HTTP/1.1 request, on a connection of its own.
pub(crate) async fn http(
    address: SocketAddr,
    request: http_types::Builder,
    body: impl Into<Bytes>,
) -> http_types::Answer {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let request = request.header("host", address.to_string());
    let request = request.body(Full::new(body.into())).unwrap();
    let (head, body) = sender.send_request(request).await.unwrap().into_parts();
    http_types::Answer {
        status: head.status.as_u16(),
        headers: head.headers,
        body: body
            .collect()
            .await
            .map(http_body_util::Collected::to_bytes)
            .ok(),
    }
}

pub(crate) mod http_types {
    use bytes::Bytes;

    pub(crate) type Builder = http::request::Builder;

    #[derive(Debug)]
    pub(crate) struct Answer {
        pub(crate) status: u16,
        pub(crate) headers: http::HeaderMap,
        /// `None` if the connection broke.
        pub(crate) body: Option<Bytes>,
    }

    pub(crate) fn request(method: &str, path: &str) -> Builder {
        Builder::new().method(method).uri(path)
    }

    impl Answer {
        pub(crate) fn text(&self) -> String {
            let body = self.body.clone().unwrap_or_default();
            String::from_utf8_lossy(&body).into_owned()
        }
    }
}
