//! Whatever bytes come, nothing panics and no wrong blob is stored.
//!
//! Invariants: each message gets an answer other than `INTERNAL` and `UNKNOWN`; the server answers
//! afterwards; each file below `blobs` has the name of its bytes.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use bazel_remote_apis::google::bytestream::{QueryWriteStatusRequest, ReadRequest};
use filch_build::digest::Digest;
use filch_build::reapi::{
    ActionResult, BatchReadBlobsRequest, FindMissingBlobsRequest, GetActionResultRequest,
    GetTreeRequest, UpdateActionResultRequest,
};
use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message as _;
use tokio::runtime::Runtime;
use tonic::{Code, Status};

use crate::client::{batch, read, with_output, write};
use crate::messages::{apply, change, check_status, open};
use crate::server::{TestServer, start};

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

/// Makes a good message of each method.
fn good(method: usize) -> Vec<u8> {
    let there = Digest::of(BLOB);
    let new = b"a new blob".as_slice();
    let some = vec![there.into(), Digest::of(new).into()];
    let result = ActionResult {
        stdout_raw: b"text".to_vec(),
        ..with_output("a/b", there)
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
            read_offset: 3,
            read_limit: 4,
            ..read(there)
        }
        .encode_to_vec(),
        8 => write(Digest::of(new), 0, new, true).encode_to_vec(),
        _ => QueryWriteStatusRequest {
            resource_name: write(there, 0, &[], false).resource_name,
        }
        .encode_to_vec(),
    }
}

async fn call(server: &TestServer, method: &str, messages: Vec<Vec<u8>>) -> Result<(), Status> {
    let messages = futures_util::stream::iter(messages);
    let mut answers = open(server.channel.clone(), method, messages).await?;
    while answers.message().await?.is_some() {}
    Ok(())
}

/// Checks that each file has the name of its bytes.
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
        check_status(&status)?;
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
        let answer = runtime.block_on(server.http(method, &path, body));
        prop_assert!(answer.status < 500, "{} {}: {}", method, path, answer.text());
        check_files(&server.folder.path().join("blobs"));
    }
}

/// The good messages are accepted, so the changed ones are close to good ones.
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
