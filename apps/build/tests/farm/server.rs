//! A server for a test, with a folder of its own: in this process, or a separate one with its own
//! environment.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bytes::Bytes;
use filch_build::digest::Digest;
use filch_build::server::{Config, Running, Server};
use filch_build::storage::{Counters, Location, Usage};
use http::HeaderMap;
use http_body_util::{BodyExt as _, Collected, Full};
use hyper_util::rt::TokioIo;
use tempfile::TempDir;
use tokio::net::TcpStream;

use crate::client::{Client, soon};
use crate::program::{Program, filch_build};

/// A server in this process or another one, with a folder that is removed with it, and its client.
pub(crate) struct TestServer<R = Running> {
    pub(crate) running: R,
    pub(crate) folder: TempDir,
    pub(crate) client: Client,
}

impl<R> Deref for TestServer<R> {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
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
    let client = Client::new(running.address()).await;
    TestServer {
        running,
        folder,
        client,
    }
}

impl TestServer {
    /// Ends the server, and starts another one in its folder.
    pub(crate) async fn restart(self, change: impl FnOnce(&mut Config)) -> Self {
        drop(self.client);
        self.running.shutdown().await;
        start_in(self.folder, change).await
    }

    pub(crate) fn counters(&self) -> &Counters {
        self.running.cache().storage().counters()
    }

    /// Waits until it knows that its entries take this.
    pub(crate) async fn uses(&self, usage: Usage) {
        let storage = self.running.cache().storage();
        eventually("entries", || storage.usage() == Some(usage)).await;
    }

    /// Returns the path of a blob on the disk.
    pub(crate) fn file(&self, digest: Digest) -> PathBuf {
        self.folder.path().join("blobs").join(place(digest))
    }

    /// Waits until that many uploads have a file.
    pub(crate) async fn temporary_files(&self, files: usize) {
        let folder = self.folder.path().join("temporary");
        eventually("temporary files", || count(&folder) == files).await;
    }

    /// Sends a request by HTTP/1.1.
    pub(crate) async fn http(&self, method: &str, path: &str, body: impl Into<Bytes>) -> Answer {
        self.http_with(method, path, &[], body).await
    }

    pub(crate) async fn http_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        http(self.running.address(), method, path, headers, body).await
    }
}

/// Returns the place of a blob or a result below their folders.
pub(crate) fn place(digest: Digest) -> String {
    let hex = digest.hex();
    format!("{}/{hex}", &hex[..2])
}

/// Counts the files in a folder and in its subfolders.
fn count(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap();
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
    let came = tokio::time::timeout(crate::client::LONG, wait).await;
    assert!(came.is_ok(), "did not come: {what}");
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

/// The answer to a request by HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// `None` if the connection broke.
    pub(crate) body: Option<Bytes>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        let body = self.body.clone().unwrap_or_default();
        String::from_utf8_lossy(&body).into_owned()
    }

    #[track_caller]
    pub(crate) fn is(&self, status: u16) {
        assert_eq!(self.status, status, "{}", self.text());
    }
}

/// Sends one HTTP/1.1 request, on a connection of its own.
pub(crate) async fn http(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Answer {
    let mut sender = connect(address).await;
    let mut request = http::Request::builder().method(method).uri(path);
    request = request.header("host", address.to_string());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(body.into())).unwrap();
    let answer = soon(sender.send_request(request)).await.unwrap();
    let (head, body) = answer.into_parts();
    Answer {
        status: head.status.as_u16(),
        headers: head.headers,
        body: body.collect().await.map(Collected::to_bytes).ok(),
    }
}

/// Connects to a server of HTTP/1.1.
pub(crate) async fn connect<B>(address: SocketAddr) -> hyper::client::conn::http1::SendRequest<B>
where
    B: hyper::body::Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
    B: Send + 'static,
{
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let connected = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (sender, connection) = connected.unwrap();
    tokio::spawn(connection);
    sender
}

pub(crate) type Variables<'a> = &'a [(&'a str, &'a str)];

fn command(storage: &str, environment: Variables<'_>) -> Command {
    let mut command = filch_build(&["serve", "--listen", "127.0.0.1:0", "--storage", storage]);
    // Nothing of the tests' own environment is passed, and a cloud's metadata is not asked for.
    command.env_clear().env("AWS_EC2_METADATA_DISABLED", "true");
    command.envs(environment.iter().copied());
    command
}

/// Starts a coordinator with that storage.
pub(crate) async fn start_separately(
    storage: &str,
    environment: Variables<'_>,
) -> TestServer<Program> {
    let folder = tempfile::tempdir().unwrap();
    let log = File::create(folder.path().join("log")).unwrap();
    let mut command = command(storage, environment);
    command.stderr(log);
    let started = tokio::task::spawn_blocking(|| Program::coordinator(|_| command));
    let (running, address) = soon(started).await.unwrap();
    TestServer {
        running,
        folder,
        client: Client::new(address).await,
    }
}

impl TestServer<Program> {
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }
}

/// Returns the text with which a coordinator ends that cannot use its storage.
pub(crate) async fn refusal(storage: &str, environment: Variables<'_>) -> String {
    let mut command = command(storage, environment);
    command.stderr(Stdio::piped());
    let (status, said) = Program::start(|_| command).wait().await;
    assert_eq!(status.code(), Some(1), "{said}");
    said
}
