//! Results of actions, by gRPC and by HTTP.

use filch_build::digest::Digest;
use filch_build::reapi::{
    ActionResult, Directory, DirectoryNode, OutputDirectory, OutputFile, Tree,
    UpdateActionResultRequest,
};
use filch_build::server::Config;
use prost::Message as _;
use tonic::Code;

use crate::client::{file, refused, with_output};
use crate::server::{TestServer, noise, place, start, start_with};

fn action() -> (Digest, String) {
    let action = Digest::of(b"an action");
    (action, format!("/ac/{}", action.hex()))
}

fn folder(tree: Option<Digest>, root: Option<Digest>) -> Vec<OutputDirectory> {
    vec![OutputDirectory {
        path: "out".into(),
        tree_digest: tree.map(Into::into),
        root_directory_digest: root.map(Into::into),
        ..Default::default()
    }]
}

/// Makes a result with one file, one folder, and an output of the process.
async fn result(server: &TestServer) -> (ActionResult, [Digest; 4]) {
    let object = server.store(b"an object").await;
    let below = server.store(b"in a folder").await;
    let tree = Tree {
        root: None,
        children: vec![Directory {
            files: vec![file("below", below)],
            ..Default::default()
        }],
    };
    let tree = server.message(&tree).await;
    let stderr = server.store(b"a warning").await;
    let result = ActionResult {
        output_directories: folder(Some(tree), None),
        stderr_digest: Some(stderr.into()),
        ..with_output("lib/a.o", object)
    };
    (result, [object, below, tree, stderr])
}

#[tokio::test]
async fn a_result_is_the_same_by_grpc_and_by_http() {
    let server = start().await;
    let (action, path) = action();
    let none = server.known(action).await;
    refused(none, Code::NotFound, "there is no result");
    server.http("GET", &path, "").await.is(404);
    let (result, _) = result(&server).await;
    assert_eq!(server.learn(action, &result).await.unwrap(), result);
    assert_eq!(server.known(action).await.unwrap(), result);
    let answer = server.http("GET", &path, "").await;
    let encoded = result.encode_to_vec();
    assert_eq!(answer.headers["content-length"], encoded.len().to_string());
    assert_eq!(answer.body.unwrap(), encoded);
    let head = server.http("HEAD", &path, "").await;
    assert_eq!((head.status, head.body.unwrap().len()), (200, 0));
    let other = Digest::of(b"another action");
    let path = format!("/ac/{}", other.hex());
    server.http("PUT", &path, encoded).await.is(200);
    assert_eq!(server.known(other).await.unwrap(), result);
    let server = server.restart(|_| {}).await;
    assert_eq!(server.known(action).await.unwrap(), result);
    let counters = server.counters();
    let counts = (counters.result_hits.get(), counters.result_misses.get());
    assert_eq!(counts, (1, 0));
}

/// Checks that the result is there as long as all of these blobs are.
async fn needs(server: &TestServer, result: &ActionResult, blobs: &[Digest]) {
    let (action, path) = action();
    server.learn(action, result).await.unwrap();
    for &blob in blobs {
        assert_eq!(server.known(action).await.unwrap(), *result);
        let bytes = server.read(blob).await.unwrap();
        std::fs::remove_file(server.file(blob)).unwrap();
        // The read made the server notice.
        refused(server.read(blob).await, Code::NotFound, "");
        let answer = server.known(action).await;
        refused(answer, Code::NotFound, "not all of its blobs");
        server.http("GET", &path, "").await.is(404);
        server.store(&bytes).await;
    }
}

#[tokio::test]
async fn a_result_is_there_only_with_all_of_its_blobs() {
    let server = start().await;
    let (result, blobs) = result(&server).await;
    needs(&server, &result, &blobs).await;
}

/// Folders among the outputs may be named by their root folder alone.
#[tokio::test]
async fn a_result_is_there_only_with_all_that_is_below_its_folders() {
    let server = start().await;
    let blob = server.store(b"a file").await;
    let inner = Directory {
        files: vec![file("file", blob)],
        ..Default::default()
    };
    let inner = server.message(&inner).await;
    let outer = Directory {
        directories: vec![DirectoryNode {
            name: "inner".into(),
            digest: Some(inner.into()),
        }],
        ..Default::default()
    };
    let outer = server.message(&outer).await;
    let result = ActionResult {
        output_directories: folder(None, Some(outer)),
        ..Default::default()
    };
    needs(&server, &result, &[blob, inner, outer]).await;
}

#[tokio::test]
async fn a_result_that_is_asked_for_keeps_its_blobs() {
    let limit = |config: &mut Config| config.limits.disk = 8 * 4096;
    let server = start_with(limit).await;
    let (action, _) = action();
    let (result, _) = result(&server).await;
    server.learn(action, &result).await.unwrap();
    for seed in 0..20 {
        server.store(&noise(100, seed)).await;
        assert_eq!(server.known(action).await.unwrap(), result);
    }
}

#[tokio::test]
async fn a_result_that_rots_is_not_there() {
    let server = start().await;
    let (action, _) = action();
    let (result, _) = result(&server).await;
    server.learn(action, &result).await.unwrap();
    let path = server.folder.path().join("results").join(place(action));
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    for bytes in [&bytes[..], b"", b"short"] {
        std::fs::write(&path, bytes).unwrap();
        let none = server.known(action).await;
        refused(none, Code::NotFound, "there is no result");
        assert!(!path.exists());
        server.learn(action, &result).await.unwrap();
        assert_eq!(server.known(action).await.unwrap(), result);
    }
}

#[tokio::test]
async fn what_is_no_result_is_refused() {
    let server = start().await;
    let (action, path) = action();
    let blob = server.store(b"bytes").await;
    let with = |path| with_output(path, blob);
    let changed = |change: &dyn Fn(&mut OutputFile)| {
        let mut result = with("a");
        change(&mut result.output_files[0]);
        result
    };
    let bad_hash = |it: &mut OutputFile| it.digest.as_mut().unwrap().hash = "../x".into();
    for (result, why) in [
        (with("/etc/passwd"), "leads out of the folder"),
        (with("a/../../b"), "leads out of the folder"),
        (with(".."), "leads out of the folder"),
        (with("a\0b"), "leads out of the folder"),
        (changed(&|it| it.digest = None), "is missing"),
        (changed(&bad_hash), "not a SHA-256 digest"),
    ] {
        let answer = server.learn(action, &result).await;
        refused(answer, Code::InvalidArgument, why);
        let answer = server.http("PUT", &path, result.encode_to_vec()).await;
        answer.is(400);
        assert!(answer.text().contains(why), "{}", answer.text());
    }
    server.http("PUT", &path, "\u{7f}no message").await.is(400);
    let large = vec![0; (4 << 20) + 1];
    server.http("PUT", &path, large).await.is(413);
    let none = server.known(action).await;
    refused(none, Code::NotFound, "there is no result");
    let request = UpdateActionResultRequest::default();
    let answer = server.actions().update_action_result(request).await;
    refused(answer, Code::InvalidArgument, "is missing");
}

#[tokio::test]
async fn updates_may_be_forbidden() {
    let server = start_with(|config| config.cache.updates = false).await;
    let (action, path) = action();
    let answer = server.learn(action, &ActionResult::default()).await;
    refused(answer, Code::PermissionDenied, "may not store results");
    server.http("PUT", &path, "").await.is(403);
    let none = server.known(action).await;
    refused(none, Code::NotFound, "there is no result");
}

/// An answer that is larger does not get to clients.
#[tokio::test]
async fn a_result_has_a_limit() {
    let server = start().await;
    let (action, path) = action();
    let result = |size: usize| ActionResult {
        stdout_raw: vec![b'x'; size],
        ..ActionResult::default()
    };
    let most = 4 << 20;
    let beside = result(most).encoded_len() - most;
    let answer = server.learn(action, &result(most - beside + 1)).await;
    refused(answer, Code::InvalidArgument, "4194304 bytes at most");
    refused(
        server.known(action).await,
        Code::NotFound,
        "there is no result",
    );
    let largest = result(most - beside);
    server.learn(action, &largest).await.unwrap();
    assert_eq!(server.known(action).await.unwrap(), largest);
    server.http("GET", &path, "").await.is(200);
}
