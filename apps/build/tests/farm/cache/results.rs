//! Results of actions, by gRPC and by HTTP.

use filch_build::digest::Digest;
use filch_build::reapi::{
    ActionResult, Directory, DirectoryNode, FileNode, GetActionResultRequest, OutputDirectory,
    OutputFile, Tree, UpdateActionResultRequest,
};
use prost::Message as _;
use tonic::Code;

use crate::server::http_types::request;
use crate::server::{TestServer, http, noise, refused, start, start_with};

async fn get(server: &TestServer, action: Digest) -> Result<ActionResult, tonic::Status> {
    let request = GetActionResultRequest {
        action_digest: Some(action.into()),
        ..Default::default()
    };
    let answer = server.actions().get_action_result(request).await?;
    Ok(answer.into_inner())
}

async fn put(
    server: &TestServer,
    action: Digest,
    result: &ActionResult,
) -> Result<ActionResult, tonic::Status> {
    let request = UpdateActionResultRequest {
        action_digest: Some(action.into()),
        action_result: Some(result.clone()),
        ..Default::default()
    };
    let answer = server.actions().update_action_result(request).await?;
    Ok(answer.into_inner())
}

fn file(path: &str, digest: Digest) -> OutputFile {
    OutputFile {
        path: path.into(),
        digest: Some(digest.into()),
        ..Default::default()
    }
}

/// Makes a result with one file, one folder, and an output of the process.
async fn result(server: &TestServer) -> (ActionResult, [Digest; 4]) {
    let object = server.store(b"an object").await;
    let below = server.store(b"in a folder").await;
    let tree = Tree {
        root: None,
        children: vec![Directory {
            files: vec![FileNode {
                name: "below".into(),
                digest: Some(below.into()),
                ..Default::default()
            }],
            ..Default::default()
        }],
    };
    let tree = server.store(&tree.encode_to_vec()).await;
    let stderr = server.store(b"a warning").await;
    let result = ActionResult {
        output_files: vec![file("lib/a.o", object)],
        output_directories: vec![OutputDirectory {
            path: "out".into(),
            tree_digest: Some(tree.into()),
            ..Default::default()
        }],
        stderr_digest: Some(stderr.into()),
        exit_code: 0,
        ..Default::default()
    };
    (result, [object, below, tree, stderr])
}

#[tokio::test]
async fn a_result_is_the_same_by_grpc_and_by_http() {
    let server = start().await;
    let action = Digest::of(b"an action");
    let path = format!("/ac/{}", action.hex());
    let address = server.running.address();
    refused(
        get(&server, action).await,
        Code::NotFound,
        "there is no result",
    );
    assert_eq!(http(address, request("GET", &path), "").await.status, 404);
    let (result, _) = result(&server).await;
    assert_eq!(put(&server, action, &result).await.unwrap(), result);
    assert_eq!(get(&server, action).await.unwrap(), result);
    let answer = http(address, request("GET", &path), "").await;
    assert_eq!(answer.body.unwrap(), result.encode_to_vec());
    assert_eq!(
        answer.headers["content-length"],
        result.encoded_len().to_string()
    );
    let head = http(address, request("HEAD", &path), "").await;
    assert_eq!((head.status, head.body.unwrap().len()), (200, 0));
    let other = Digest::of(b"another action");
    let path = format!("/ac/{}", other.hex());
    assert_eq!(
        http(address, request("PUT", &path), result.encode_to_vec())
            .await
            .status,
        200
    );
    assert_eq!(get(&server, other).await.unwrap(), result);
    let server = server.restart(|_| {}).await;
    assert_eq!(get(&server, action).await.unwrap(), result);
    let counters = server.running.cache().storage().counters();
    assert_eq!(
        (counters.result_hits.get(), counters.result_misses.get()),
        (1, 0)
    );
}

#[tokio::test]
async fn a_result_is_there_only_with_all_of_its_blobs() {
    let server = start().await;
    let action = Digest::of(b"an action");
    let (result, blobs) = result(&server).await;
    put(&server, action, &result).await.unwrap();
    for blob in blobs {
        let bytes = server.read(blob).await.unwrap();
        std::fs::remove_file(server.file(blob)).unwrap();
        // The read made the server notice.
        refused(server.read(blob).await, Code::NotFound, "");
        refused(
            get(&server, action).await,
            Code::NotFound,
            "not all of its blobs",
        );
        let path = format!("/ac/{}", action.hex());
        let answer = http(server.running.address(), request("GET", &path), "").await;
        assert_eq!(answer.status, 404, "{}", answer.text());
        server.store(&bytes).await;
        assert_eq!(get(&server, action).await.unwrap(), result);
    }
}

/// Folders among the outputs may be named by their root folder alone.
#[tokio::test]
async fn a_result_is_there_only_with_all_that_is_below_its_folders() {
    let server = start().await;
    let action = Digest::of(b"an action");
    let file = server.store(b"a file").await;
    let inner = Directory {
        files: vec![FileNode {
            name: "file".into(),
            digest: Some(file.into()),
            ..Default::default()
        }],
        ..Default::default()
    };
    let inner = server.store(&inner.encode_to_vec()).await;
    let outer = Directory {
        directories: vec![DirectoryNode {
            name: "inner".into(),
            digest: Some(inner.into()),
        }],
        ..Default::default()
    };
    let outer = server.store(&outer.encode_to_vec()).await;
    let result = ActionResult {
        output_directories: vec![OutputDirectory {
            path: "out".into(),
            root_directory_digest: Some(outer.into()),
            ..Default::default()
        }],
        ..Default::default()
    };
    put(&server, action, &result).await.unwrap();
    for blob in [file, inner, outer] {
        assert_eq!(get(&server, action).await.unwrap(), result);
        let bytes = server.read(blob).await.unwrap();
        std::fs::remove_file(server.file(blob)).unwrap();
        // The read made the server notice.
        refused(server.read(blob).await, Code::NotFound, "");
        let answer = get(&server, action).await;
        refused(answer, Code::NotFound, "not all of its blobs");
        server.store(&bytes).await;
    }
}

#[tokio::test]
async fn a_result_that_is_asked_for_keeps_its_blobs() {
    let limit = |config: &mut filch_build::server::Config| config.limits.disk = 8 * 4096;
    let server = start_with(limit).await;
    let action = Digest::of(b"an action");
    let (result, _) = result(&server).await;
    put(&server, action, &result).await.unwrap();
    for seed in 0..20 {
        server.store(&noise(100, seed)).await;
        assert_eq!(get(&server, action).await.unwrap(), result);
    }
}

#[tokio::test]
async fn a_result_that_rots_is_not_there() {
    let server = start().await;
    let action = Digest::of(b"an action");
    let (result, _) = result(&server).await;
    put(&server, action, &result).await.unwrap();
    let hex = action.hex();
    let path = server
        .folder
        .path()
        .join("results")
        .join(&hex[..2])
        .join(&hex);
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    for bytes in [&bytes[..], b"", b"short"] {
        std::fs::write(&path, bytes).unwrap();
        refused(
            get(&server, action).await,
            Code::NotFound,
            "there is no result",
        );
        assert!(!path.exists());
        put(&server, action, &result).await.unwrap();
        assert_eq!(get(&server, action).await.unwrap(), result);
    }
}

#[tokio::test]
async fn what_is_no_result_is_refused() {
    let server = start().await;
    let action = Digest::of(b"an action");
    let blob = server.store(b"bytes").await;
    let with = |output: OutputFile| ActionResult {
        output_files: vec![output],
        ..Default::default()
    };
    let mut no_digest = file("a", blob);
    no_digest.digest = None;
    let mut bad_digest = file("a", blob);
    bad_digest.digest.as_mut().unwrap().hash = "../x".into();
    for (result, why) in [
        (with(file("/etc/passwd", blob)), "leads out of the folder"),
        (with(file("a/../../b", blob)), "leads out of the folder"),
        (with(file("..", blob)), "leads out of the folder"),
        (with(file("a\0b", blob)), "leads out of the folder"),
        (with(no_digest), "has no digest"),
        (with(bad_digest), "not a SHA-256 digest"),
    ] {
        refused(
            put(&server, action, &result).await,
            Code::InvalidArgument,
            why,
        );
        let path = format!("/ac/{}", action.hex());
        let put = request("PUT", &path);
        let answer = http(server.running.address(), put, result.encode_to_vec()).await;
        assert_eq!(answer.status, 400);
        assert!(answer.text().contains(why), "{}", answer.text());
    }
    let path = format!("/ac/{}", action.hex());
    let answer = http(
        server.running.address(),
        request("PUT", &path),
        "\u{7f}no message",
    )
    .await;
    assert_eq!(answer.status, 400);
    let large = vec![0; (4 << 20) + 1];
    let answer = http(server.running.address(), request("PUT", &path), large).await;
    assert_eq!(answer.status, 413);
    refused(
        get(&server, action).await,
        Code::NotFound,
        "there is no result",
    );
    let request = UpdateActionResultRequest::default();
    let answer = server.actions().update_action_result(request).await;
    refused(answer, Code::InvalidArgument, "is missing");
}

#[tokio::test]
async fn updates_may_be_forbidden() {
    let server = start_with(|config| config.cache.updates = false).await;
    let action = Digest::of(b"an action");
    let answer = put(&server, action, &ActionResult::default()).await;
    refused(answer, Code::PermissionDenied, "may not store results");
    let path = format!("/ac/{}", action.hex());
    let answer = http(server.running.address(), request("PUT", &path), "").await;
    assert_eq!(answer.status, 403);
    refused(
        get(&server, action).await,
        Code::NotFound,
        "there is no result",
    );
}
