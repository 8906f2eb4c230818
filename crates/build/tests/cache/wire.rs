//! Whatever comes, nothing panics and no wrong blob is stored.
//!
//! Invariants: each message has an answer, which is no `INTERNAL` and no `UNKNOWN`; the server
//! answers afterwards; each file below `blobs` has the name of its bytes.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use bazel_remote_apis::google::bytestream::{QueryWriteStatusRequest, ReadRequest};
use bytes::{Buf, BufMut};
use filch_build::digest::Digest;
use filch_build::reapi::{
    ActionResult, BatchReadBlobsRequest, FindMissingBlobsRequest, GetActionResultRequest,
    GetTreeRequest, OutputFile, UpdateActionResultRequest,
};
use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message as _;
use tokio::runtime::Runtime;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Request, Status};

use crate::server::http_types::request;
use crate::server::{TestServer, batch, http, start, write};

/// Sends and takes bytes as they are.
#[derive(Clone, Copy, Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        to.put_slice(&item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        let mut bytes = vec![0; from.remaining()];
        from.copy_to_slice(&mut bytes);
        Ok(Some(bytes))
    }
}

const METHODS: &[&str] = &[
    "/build.bazel.remote.execution.v2.Capabilities/GetCapabilities",
    "/build.bazel.remote.execution.v2.ContentAddressableStorage/FindMissingBlobs",
    "/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs",
    "/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchReadBlobs",
    "/build.bazel.remote.execution.v2.ContentAddressableStorage/GetTree",
    "/build.bazel.remote.execution.v2.ActionCache/GetActionResult",
    "/build.bazel.remote.execution.v2.ActionCache/UpdateActionResult",
    "/google.bytestream.ByteStream/Read",
    "/google.bytestream.ByteStream/Write",
    "/google.bytestream.ByteStream/QueryWriteStatus",
];

struct World {
    runtime: Runtime,
    server: TestServer,
}

static WORLD: LazyLock<World> = LazyLock::new(|| {
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(start());
    runtime.block_on(server.store(BLOB));
    World { runtime, server }
});

const BLOB: &[u8] = b"a blob that is there";

/// A good message of each method.
fn good(method: usize) -> Vec<u8> {
    let there = Digest::of(BLOB);
    let new = b"a new blob".as_slice();
    let some = vec![there.into(), Digest::of(new).into()];
    let result = ActionResult {
        output_files: vec![OutputFile {
            path: "a/b".into(),
            digest: Some(there.into()),
            ..Default::default()
        }],
        stdout_raw: b"text".to_vec(),
        ..Default::default()
    };
    match method {
        0 => Vec::new(),
        1 => FindMissingBlobsRequest {
            blob_digests: some,
            ..Default::default()
        }
        .encode_to_vec(),
        2 => batch(&[(there, BLOB), (Digest::of(new), new)]).encode_to_vec(),
        3 => BatchReadBlobsRequest {
            digests: some,
            ..Default::default()
        }
        .encode_to_vec(),
        4 => GetTreeRequest {
            root_digest: Some(there.into()),
            ..Default::default()
        }
        .encode_to_vec(),
        5 => GetActionResultRequest {
            action_digest: Some(there.into()),
            ..Default::default()
        }
        .encode_to_vec(),
        6 => UpdateActionResultRequest {
            action_digest: Some(there.into()),
            action_result: Some(result),
            ..Default::default()
        }
        .encode_to_vec(),
        7 => ReadRequest {
            resource_name: format!("blobs/{there}"),
            read_offset: 3,
            read_limit: 4,
        }
        .encode_to_vec(),
        8 => write(Digest::of(new), 0, new, true).encode_to_vec(),
        _ => QueryWriteStatusRequest {
            resource_name: write(there, 0, &[], false).resource_name,
        }
        .encode_to_vec(),
    }
}

/// What happens to a good message on its way.
#[derive(Debug, Clone)]
enum Change {
    Set(usize, u8),
    Flip(usize, u8),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    Repeat(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<usize>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (at(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        (at(), vec(any::<u8>(), 1..12)).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        (at(), 1..40_usize).prop_map(|(at, length)| Change::Remove(at, length)),
        (at(), 1..90_usize).prop_map(|(at, length)| Change::Repeat(at, length)),
    ]
}

fn apply(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        let length = bytes.len();
        let index = |at: usize| if length == 0 { 0 } else { at % length };
        match change {
            Change::Set(at, byte) if length > 0 => bytes[index(*at)] = *byte,
            Change::Flip(at, bit) if length > 0 => bytes[index(*at)] ^= 1 << bit,
            Change::Insert(at, more) => {
                let at = index(*at);
                bytes.splice(at..at, more.iter().copied());
            }
            Change::Remove(at, count) => {
                let at = index(*at);
                bytes.drain(at..(at + count).min(length));
            }
            Change::Repeat(at, count) => {
                let at = index(*at);
                let part = bytes[at..(at + count).min(length)].to_vec();
                bytes.splice(at..at, part);
            }
            _ => {}
        }
    }
    bytes
}

async fn call(server: &TestServer, method: &str, messages: Vec<Vec<u8>>) -> Result<(), Status> {
    let channel = server.channel();
    let mut grpc = Grpc::new(channel);
    grpc.ready().await.unwrap();
    let path = PathAndQuery::try_from(method).unwrap();
    let request = Request::new(futures_util::stream::iter(messages));
    let mut answers = grpc.streaming(request, path, Raw).await?.into_inner();
    while answers.message().await?.is_some() {}
    Ok(())
}

/// Each file has the name of its bytes.
fn check_files(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            check_files(&path);
        } else {
            let bytes = fs::read(&path).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap();
            assert_eq!(name, Digest::of(&bytes).hex(), "a wrong blob was stored");
        }
    }
}

fn send(method: usize, messages: Vec<Vec<u8>>) -> Result<(), TestCaseError> {
    let World { runtime, server } = &*WORLD;
    let answer = runtime.block_on(call(server, METHODS[method], messages));
    if let Err(status) = answer {
        let code = status.code();
        // What is no message of protobuf, or none at all, is an internal error to tonic.
        let text = status.message();
        let no_message = text.contains("failed to decode Protobuf message")
            || text == "Missing request message.";
        let expected = !matches!(code, Code::Internal | Code::Unknown | Code::Unavailable);
        prop_assert!(expected || no_message, "{}", status);
    }
    prop_assert!(runtime.block_on(server.has(Digest::of(BLOB))));
    check_files(&server.folder.path().join("blobs"));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_answered(
        method in 0..METHODS.len(),
        messages in vec(vec(any::<u8>(), 0..100), 0..3),
    ) {
        send(method, messages)?;
    }

    #[test]
    fn changed_messages_are_answered(
        method in 0..METHODS.len(),
        changes in vec(vec(change(), 0..4), 1..3),
    ) {
        let messages = changes.iter().map(|changes| apply(good(method), changes));
        send(method, messages.collect())?;
    }

    #[test]
    fn any_path_is_answered_by_http(
        put in any::<bool>(),
        kind in "(cas|ac|)",
        name in "([a-f0-9]{64}|[%./a-zA-Z0-9]{0,20})",
        body in vec(any::<u8>(), 0..100),
    ) {
        let World { runtime, server } = &*WORLD;
        let method = if put { "PUT" } else { "GET" };
        let Ok(uri) = format!("/{kind}/{name}").parse::<http::Uri>() else {
            return Ok(());
        };
        let path = uri.path().to_owned();
        let address = server.running.address();
        let answer = runtime.block_on(http(address, request(method, &path), body));
        prop_assert!(answer.status < 500, "{} {}: {}", method, path, answer.text());
        check_files(&server.folder.path().join("blobs"));
    }
}

/// The good messages are good, so that the changed ones are near to some.
#[test]
fn good_messages_are_taken() {
    let World { runtime, server } = &*WORLD;
    for (number, method) in METHODS.iter().enumerate() {
        let answer = runtime.block_on(call(server, method, vec![good(number)]));
        match (number, answer) {
            // No folder; no result yet, or one of another test.
            (4, Err(status)) => assert_eq!(status.code(), Code::InvalidArgument),
            (5, Err(status)) => assert_eq!(status.code(), Code::NotFound),
            (_, answer) => assert!(answer.is_ok(), "{method}: {answer:?}"),
        }
    }
}
