//! The sentences of the Remote Execution API that a server can keep or break, one a row: MUST,
//! SHOULD and the codes, of `remote_execution.proto` and `bytestream.proto`.
//!
//! All rows run, and those that do not hold are named. The farm departs from three sentences on
//! purpose: it puts short output into a result unasked, does not wait for messages after
//! `finish_write` to refuse them, and has no page tokens of trees.

use std::panic::AssertUnwindSafe;

use bazel_remote_apis::google::bytestream::{ReadRequest, WriteRequest};
use bazel_remote_apis::google::{longrunning::operation, protobuf};
use filch_build::digest::Digest;
use filch_build::farm::FarmConfig;
use filch_build::reapi::capabilities_client::CapabilitiesClient;
use filch_build::reapi::{self, digest_function::Value::Blake3, *};
use futures_util::FutureExt as _;
use prost::Message as _;
use tonic::Code::{self, FailedPrecondition, InvalidArgument, NotFound, Ok as OK, OutOfRange};
use tonic::Status;

use crate::cache::byte_stream::status;
use crate::cache::content::{codes, pages, read_batch};
use crate::client::{Operations, coordinator, sh, soon, stage, upload, with_output, write};
use crate::server::{start, start_with};
use crate::workers::together::worker;

/// Returns the reason if the answer is not that code, or OK and true.
async fn wrong<F>(code: Code, answer: F) -> Option<String>
where
    F: Future<Output = Result<bool, Status>>,
{
    match AssertUnwindSafe(soon(answer)).catch_unwind().await {
        Ok(Ok(true)) if code == OK => None,
        Ok(Err(status)) if status.code() == code => None,
        Ok(answer) => Some(format!("{code:?}, but {answer:?}")),
        Err(_) => Some(format!("{code:?}, but a panic")),
    }
}

/// Runs rows: the sentence, the code that it asks for, and the answer.
macro_rules! rows {
    ($($sentence:literal, $code:expr, $answer:expr;)*) => {
        let mut failed = String::new();
        $(if let Some(wrong) = wrong($code, $answer).await {
            failed += &format!("\n{}: {wrong}", $sentence);
        })*
        assert!(failed.is_empty(), "{failed}");
    };
}

fn checked(code: i32) -> Result<(), Status> {
    match Code::from(code) {
        OK => Ok(()),
        code => Err(Status::new(code, "in the answer")),
    }
}

fn named(hash: &str, size_bytes: i64) -> reapi::Digest {
    let hash = hash.to_owned();
    reapi::Digest { hash, size_bytes }
}

#[tokio::test]
async fn content() {
    let c = &start().await;
    let (there, absent) = (c.put("there").await, Digest::of(b"absent"));
    let (hex, beside) = (&*there.hex(), Digest::of(b"beside"));
    let find = async |blob: reapi::Digest, digest_function| {
        let request = FindMissingBlobsRequest {
            blob_digests: vec![blob],
            digest_function,
            ..Default::default()
        };
        let answer = c.content().find_missing_blobs(request).await?;
        Ok(answer.into_inner().missing_blob_digests.is_empty())
    };
    let lacks = async |blob| Ok(!find(blob, 0).await?);
    let update = async |blob: Digest, data: &[u8]| {
        let codes = codes(c, &[(blob, data), (beside, b"beside")]).await;
        let has = c.has(blob).await;
        assert_eq!(has, codes[0] == 0);
        checked(codes[0]).map(|()| has)
    };
    let has = async |blob: reapi::Digest, bytes: &[u8]| {
        let found = read_batch(c, vec![Digest::EMPTY.into(), blob]).await?;
        checked(found[1].0)?;
        Ok(found[0].0 == 0 && found[1].1 == bytes)
    };
    let node = |name: &str, folder: Digest| DirectoryNode {
        name: name.to_owned(),
        digest: Some(folder.into()),
    };
    let outer = Directory {
        directories: vec![node("absent", absent), node("empty", Digest::EMPTY)],
        ..Default::default()
    };
    let root = c.message(&outer).await;
    let tree = async |root: Digest, expected: &[Directory]| {
        Ok(pages(c, Some(root.into()), 0).await?.concat() == expected)
    };
    let all = &[outer, Directory::default()];
    let longer = Digest::from_hash(*absent.hash(), 7);
    rows! {
        "FindMissingBlobs: an empty blob is always there", OK, find(Digest::EMPTY.into(), 0);
        "FindMissingBlobs: what was stored is not missing", OK, find(there.into(), 0);
        "FindMissingBlobs: what was not stored is", OK, lacks(absent.into());
        "Digest: the size is a part of it", OK, lacks(named(hex, 6));
        "Digest: what is no hash", InvalidArgument, find(named(&hex[1..], 5), 0);
        "digest_function: another one", InvalidArgument, find(there.into(), Blake3 as i32);
        "BatchUpdateBlobs: stores", OK, update(Digest::of(b"new"), b"new");
        "BatchUpdateBlobs: the hash does not match", InvalidArgument, update(absent, b"other");
        "BatchUpdateBlobs: the size does not match", InvalidArgument, update(longer, b"absent");
        "BatchUpdateBlobs: others succeed independently", OK, find(beside.into(), 0);
        "BatchReadBlobs: the data", OK, has(there.into(), b"there");
        "BatchReadBlobs: an absent one has a status", NotFound, has(absent.into(), b"");
        "GetTree: the root is not in the CAS", NotFound, tree(absent, all);
        "GetTree: the portion that is present", OK, tree(root, all);
    }
}

#[tokio::test]
async fn byte_stream() {
    let c = &start_with(|config| config.limits.blob = 1 << 20).await;
    let there = c.put("there").await;
    let (absent, new) = (Digest::of(b"absent"), Digest::of(b"new"));
    let read = async |blob, from, limit, expected: &[u8]| {
        Ok(c.read_part(blob, from, limit).await? == expected)
    };
    let name = async |resource_name: String, read_limit| {
        let request = ReadRequest {
            resource_name,
            read_offset: 0,
            read_limit,
        };
        c.bytes().read(request).await.map(|_| true)
    };
    let zipped = |compressor| format!("compressed-blobs/{compressor}/{there}");
    let mut again = upload(there, b"");
    again[0].resource_name = format!("uploads/u/{}", zipped("zstd"));
    let sends = async |messages: Vec<WriteRequest>, size| Ok(c.upload(messages).await? == size);
    let is = async |size, complete| Ok(status(c, new).await? == (size, complete));
    let part = |from: usize, to: usize| write(new, from, &b"new"[from..to], to == 3);
    let whole = |size| upload(Digest::from_hash(*absent.hash(), size), b"absent");
    let mut noted = whole(6);
    noted[0].resource_name += "/a/note";
    rows! {
        "Read: all of the resource", OK, read(there, 0, 0, b"there");
        "Read: an empty blob is always there", OK, read(Digest::EMPTY, 0, 0, b"");
        "Read: not in the CAS", NotFound, read(absent, 0, 0, b"");
        "read_offset: as great as the size", OK, read(there, 5, 0, b"");
        "read_offset: negative", OutOfRange, read(there, -1, 0, b"");
        "read_offset: greater than the size", OutOfRange, read(there, 6, 0, b"");
        "read_limit: no more, from read_offset", OK, read(there, 1, 2, b"he");
        "read_limit: negative", InvalidArgument, read(there, 0, -1, b"");
        "resource_name: another form", InvalidArgument, name("there".to_owned(), 0);
        "supported_compressors: another one", Code::Unimplemented, name(zipped("deflate"), 0);
        "read_limit: not of compressed blobs", InvalidArgument, name(zipped("zstd"), 1);
        "QueryWriteStatus: nothing has come", NotFound, is(0, false);
        "write_offset: at first the committed size", InvalidArgument, sends(vec![part(1, 3)], 3);
        "Write: unfinished without finish_write", OK, sends(vec![part(0, 1)], 1);
        "QueryWriteStatus: the bytes so far", OK, is(1, false);
        "write_offset: then the sum", InvalidArgument, sends(vec![part(1, 2), part(1, 3)], 3);
        "QueryWriteStatus: it does not decrease", OK, is(2, false);
        "Write: can be resumed", OK, sends(vec![part(2, 3)], 3);
        "QueryWriteStatus: complete", OK, is(3, true);
        "Write: another client has completed it", OK, sends(vec![part(0, 1)], 3);
        "Write: and compressed, too", OK, sends(again, -1);
        "Write: the size does not match", InvalidArgument, sends(whole(7), 6);
        "max_cas_blob_size_bytes: rejected", InvalidArgument, sends(whole(2 << 20), 6);
        "resource_name: metadata may follow", OK, sends(noted, 6);
    }
}

#[tokio::test]
async fn action_cache_and_capabilities() {
    let c = &start_with(|config| config.limits.blob = 1 << 20).await;
    let (action, other) = (Digest::of(b"an action"), Digest::of(b"another"));
    let good = &with_output("out", c.put("there").await);
    let holds = async |action, result: &ActionResult| Ok(c.known(action).await? == *result);
    let learn = async |action, result: &ActionResult| Ok(c.learn(action, result).await? == *result);
    let says = async |is_so: fn(CacheCapabilities) -> bool| {
        let mut client = CapabilitiesClient::new(c.channel.clone());
        let asks = GetCapabilitiesRequest::default();
        let all = client.get_capabilities(asks).await?.into_inner();
        Ok(all.execution_capabilities.is_some() && all.cache_capabilities.is_some_and(is_so))
    };
    let outside = with_output("/out", Digest::EMPTY);
    let gone = with_output("out", other);
    rows! {
        "GetActionResult: not in the cache", NotFound, holds(action, good);
        "UpdateActionResult: returns an equivalent value", OK, learn(action, good);
        "GetActionResult: what was stored", OK, holds(action, good);
        "OutputFile.path: no leading slash", InvalidArgument, learn(other, &outside);
        "UpdateActionResult: with a blob that is absent", OK, learn(other, &gone);
        "GetActionResult: all blobs are available", NotFound, holds(other, &gone);
        "max_cas_blob_size_bytes", OK, says(|cache| cache.max_cas_blob_size_bytes == 1 << 20);
    }
}

/// Waits for the end; checks that all operations are as they must be.
async fn ended(mut operations: Operations) -> Result<ExecuteResponse, Status> {
    loop {
        let next = operations.next().await;
        assert_eq!(next.done, stage(&next) == execution_stage::Value::Completed);
        match next.result {
            None => {}
            Some(operation::Result::Error(_)) => panic!("the field `error` is set"),
            Some(operation::Result::Response(any)) => {
                let response = ExecuteResponse::decode(&any.value[..]).unwrap();
                checked(response.status.clone().unwrap_or_default().code)?;
                assert_eq!(operations.stream.message().await.unwrap(), None);
                return Ok(response);
            }
        }
    }
}

#[tokio::test]
#[expect(deprecated, reason = "clients of version 2.0 use these fields")]
async fn execution() {
    let (server, client) = coordinator(FarmConfig::default()).await;
    let folder = tempfile::tempdir().unwrap();
    let _worker = worker(server.address(), "a", folder.path()).await;
    let (c, absent) = (&client, Digest::of(b"absent"));
    let execute = async |action, skip| ended(c.ask(action, skip).await?).await;
    let fails = async |action| execute(action, false).await.map(|_| true);
    let run = async |command: Command| {
        let action = c.action(&command, &[], Action::default()).await;
        execute(action, false)
            .await
            .map(|response| response.result.unwrap())
    };
    let exits = async |command: Command| Ok(run(command).await?.exit_code == 0);
    let makes = async |script: &str, is_so: fn(ActionResult) -> bool| {
        let output_paths = vec!["out".to_owned()];
        let command = Command {
            output_paths,
            ..sh(script)
        };
        Ok(is_so(run(command).await?))
    };
    let out = || vec!["out".to_owned()];
    let twice = async |action: Action, skip| {
        let action = c.action(&sh("true"), &[], action).await;
        execute(action, skip).await?;
        Ok(execute(action, skip).await?.cached_result)
    };
    let once = async |action, skip| Ok(!twice(action, skip).await?);
    let of = async |command_digest: Digest, root: Digest, platform| {
        let action = Action {
            command_digest: Some(command_digest.into()),
            input_root_digest: Some(root.into()),
            platform,
            ..Default::default()
        };
        c.message(&action).await
    };
    let plan9 = || {
        let (name, value) = ("OSFamily".to_owned(), "plan 9".to_owned());
        let properties = vec![platform::Property { name, value }];
        Some(Platform { properties })
    };
    let takes = |seconds, do_not_cache| Action {
        timeout: Some(protobuf::Duration { seconds, nanos: 1 }),
        do_not_cache,
        ..Default::default()
    };
    let script = c.message(&sh("true")).await;
    let older = Command {
        platform: plan9(),
        ..sh("true")
    };
    let newer = of(
        c.message(&older).await,
        Digest::EMPTY,
        Some(Platform::default()),
    )
    .await;
    let slow = c.action(&sh("exec sleep 1000"), &[], takes(0, false)).await;
    let poisoned = c.script("exit 0", &[], &[]).await;
    c.learn(poisoned, &with_output("poison", Digest::EMPTY))
        .await
        .unwrap();
    rows! {
        "Execute: the action is not in the CAS", FailedPrecondition, fails(absent);
        "Execute: nor is the command", FailedPrecondition,
            fails(of(absent, Digest::EMPTY, None).await);
        "Execute: nor is an input", FailedPrecondition,
            fails(c.script("true", &[("in", absent)], &[]).await);
        "Execute: not an action", InvalidArgument, fails(c.put("no action").await);
        "Execute: an argument is missing", InvalidArgument,
            async { c.execution().execute(ExecuteRequest::default()).await.map(|_| true) };
        "Execute: the result comes from the cache", OK, twice(Action::default(), false);
        "skip_cache_lookup: is executed", OK, once(Action::default(), true);
        "skip_cache_lookup: overwrites the entry", OK, async {
            execute(poisoned, true).await?;
            Ok(c.known(poisoned).await?.output_files.is_empty())
        };
        "do_not_cache: is executed", OK, once(takes(9, true), false);
        "timeout: longer than the maximum", InvalidArgument, twice(takes(1 << 30, true), false);
        "timeout: is over", Code::DeadlineExceeded, fails(slow);
        "ExecuteResponse.status: what failed is not cached", NotFound,
            async { c.known(slow).await.map(|_| true) };
        "Property: unknown", FailedPrecondition, fails(of(script, Digest::EMPTY, plan9()).await);
        "Command.platform: for older clients", FailedPrecondition, exits(older);
        "Action.platform: is preferred", OK, fails(newer);
        "output_paths: a file", OK, makes("echo > out", |result| result.output_files.len() == 1);
        "output_paths: a directory", OK,
            makes("mkdir out", |result| result.output_directories[0].tree_digest.is_some());
        "output_paths: no leading slash", InvalidArgument,
            exits(Command { output_paths: vec!["/out".to_owned()], ..sh("true") });
        "DISALLOWED: an absolute link", FailedPrecondition, makes("ln -s /etc out", |_| true);
        "output_files: a directory", FailedPrecondition,
            exits(Command { output_files: out(), ..sh("mkdir out") });
        "output_files: a link to one", FailedPrecondition,
            exits(Command { output_files: out(), ..sh("mkdir d; ln -s d out") });
        "output_directories: a file", FailedPrecondition,
            exits(Command { output_directories: out(), ..sh("echo > out") });
        "output_directories: a link to one", FailedPrecondition,
            exits(Command { output_directories: out(), ..sh("echo > f; ln -s f out") });
        "output_directory_format: the root of the tree", OK, async {
            let wanted = Command { output_directories: out(), ..sh("mkdir out") };
            let result = run(Command { output_directory_format: 1, ..wanted }).await?;
            Ok(result.output_directories[0].root_directory_digest == Some(Digest::EMPTY.into()))
        };
        "output_node_properties: not recognized", InvalidArgument,
            exits(Command { output_node_properties: vec!["mtime".to_owned()], ..sh("true") });
        "WaitExecution: unknown", NotFound, async { c.wait("none").await.map(|_| true) };
    }
}
