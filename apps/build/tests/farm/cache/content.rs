//! Blobs in batches, and trees.

use filch_build::cache::MAX_BATCH;
use filch_build::digest::Digest;
use filch_build::reapi::{
    BatchReadBlobsRequest, Directory, DirectoryNode, FindMissingBlobsRequest,
    GetCapabilitiesRequest, GetTreeRequest, compressor, digest_function,
};
use prost::Message as _;
use tonic::Code;

use crate::server::{TestServer, batch, noise, refused, start, start_with};

#[tokio::test]
async fn what_is_stored_is_found_and_read() {
    let server = start().await;
    let (one, two) = (noise(10, 1), noise(100_000, 2));
    let (first, second) = (Digest::of(&one), Digest::of(&two));
    let answer = server
        .content()
        .batch_update_blobs(batch(&[(first, &one), (second, &two)]))
        .await;
    for response in answer.unwrap().into_inner().responses {
        assert_eq!(response.status.unwrap().code, Code::Ok as i32);
    }
    let absent = Digest::of(b"absent");
    let request = FindMissingBlobsRequest {
        blob_digests: [absent, first, Digest::EMPTY, second]
            .map(Into::into)
            .to_vec(),
        ..Default::default()
    };
    let answer = server.content().find_missing_blobs(request).await.unwrap();
    assert_eq!(answer.into_inner().missing_blob_digests, [absent.into()]);
    let request = BatchReadBlobsRequest {
        digests: [second, absent, first, Digest::EMPTY]
            .map(Into::into)
            .to_vec(),
        ..Default::default()
    };
    let answer = server.content().batch_read_blobs(request).await.unwrap();
    let found = answer.into_inner().responses.into_iter();
    let found: Vec<_> = found
        .map(|blob| (blob.status.unwrap().code, blob.data))
        .collect();
    let ok = Code::Ok as i32;
    let missing = Code::NotFound as i32;
    assert_eq!(
        found,
        [(ok, two), (missing, vec![]), (ok, one), (ok, vec![])]
    );
}

#[tokio::test]
async fn a_wrong_blob_of_a_batch_is_refused_alone() {
    let server = start().await;
    let right = Digest::of(b"right");
    let wrong = Digest::of(b"other");
    let longer = Digest::from_hash(*Digest::of(b"longer").hash(), 7);
    let shorter = Digest::from_hash(*Digest::of(b"shorter").hash(), 2);
    let request = batch(&[
        (wrong, b"bytes"),
        (right, b"right"),
        (longer, b"longer"),
        (shorter, b"shorter"),
    ]);
    let answer = server.content().batch_update_blobs(request).await.unwrap();
    let statuses = answer.into_inner().responses.into_iter();
    let codes: Vec<_> = statuses.map(|blob| blob.status.unwrap().code).collect();
    let bad = Code::InvalidArgument as i32;
    assert_eq!(codes, [bad, Code::Ok as i32, bad, bad]);
    assert!(server.has(right).await);
    for digest in [
        wrong,
        longer,
        shorter,
        Digest::of(b"longer"),
        Digest::of(b"bytes"),
    ] {
        assert!(!server.has(digest).await, "{digest}");
    }
    server.no_temporary_files().await;
}

#[tokio::test]
async fn compression_is_refused() {
    let server = start().await;
    let mut request = batch(&[(Digest::of(b"x"), b"x")]);
    request.requests[0].compressor = compressor::Value::Zstd.into();
    let answer = server.content().batch_update_blobs(request).await.unwrap();
    let status = answer.into_inner().responses.remove(0).status.unwrap();
    assert_eq!(status.code, Code::Unimplemented as i32);
    assert!(!server.has(Digest::of(b"x")).await);
}

#[tokio::test]
async fn a_batch_has_a_limit() {
    let server = start().await;
    let half = noise(MAX_BATCH as usize / 2 + 1, 3);
    let digest = Digest::of(&half);
    let request = batch(&[(digest, &half), (digest, &half)]);
    let answer = server.content().batch_update_blobs(request).await;
    refused(answer, Code::InvalidArgument, "use ByteStream");
    assert!(!server.has(digest).await);
    let sizes = [
        vec![MAX_BATCH as i64 + 1],
        vec![i64::MAX, i64::MAX, i64::MAX],
    ];
    for sizes in sizes {
        let digests = sizes.into_iter().map(|size| filch_build::reapi::Digest {
            hash: digest.hex(),
            size_bytes: size,
        });
        let request = BatchReadBlobsRequest {
            digests: digests.collect(),
            ..Default::default()
        };
        let answer = server.content().batch_read_blobs(request).await;
        refused(answer, Code::InvalidArgument, "use ByteStream");
    }
}

#[tokio::test]
async fn what_is_no_digest_is_refused() {
    let server = start().await;
    let hex = Digest::EMPTY.hex();
    for (hash, size_bytes) in [
        ("../../../../etc/passwd".to_owned(), 0),
        (format!("../{}", &hex[3..]), 0),
        (hex.to_uppercase(), 0),
        (hex[1..].to_owned(), 0),
        (format!("{hex}0"), 0),
        (String::new(), 0),
        (hex, -1),
    ] {
        let digest = filch_build::reapi::Digest { hash, size_bytes };
        let request = FindMissingBlobsRequest {
            blob_digests: vec![digest.clone()],
            ..Default::default()
        };
        let answer = server.content().find_missing_blobs(request).await;
        refused(answer, Code::InvalidArgument, "not a SHA-256 digest");
        let request = GetTreeRequest {
            root_digest: Some(digest),
            ..Default::default()
        };
        let answer = server.content().get_tree(request).await;
        refused(answer, Code::InvalidArgument, "not a SHA-256 digest");
    }
    let answer = server.content().get_tree(GetTreeRequest::default()).await;
    refused(answer, Code::InvalidArgument, "is missing");
}

#[tokio::test]
async fn other_instances_and_other_hashes_are_refused() {
    let server = start_with(|config| config.cache.instance = "main".into()).await;
    for (instance_name, digest_function, why) in [
        ("", 0, "there is no instance"),
        ("main/more", 0, "there is no instance"),
        ("main", digest_function::Value::Blake3.into(), "SHA-256"),
        ("main", 99, "SHA-256"),
    ] {
        let request = FindMissingBlobsRequest {
            instance_name: instance_name.into(),
            digest_function,
            ..Default::default()
        };
        let answer = server.content().find_missing_blobs(request).await;
        refused(answer, Code::InvalidArgument, why);
    }
    let request = |name: &str| GetCapabilitiesRequest {
        instance_name: name.into(),
    };
    let answer = server
        .capabilities()
        .get_capabilities(request("other"))
        .await;
    refused(answer, Code::InvalidArgument, "there is no instance");
    let answer = server
        .capabilities()
        .get_capabilities(request("main"))
        .await;
    let cache = answer.unwrap().into_inner().cache_capabilities.unwrap();
    assert_eq!(
        cache.digest_functions,
        [i32::from(digest_function::Value::Sha256)]
    );
    assert_eq!(cache.max_batch_total_size_bytes, MAX_BATCH as i64);
    assert!(cache.supported_compressors.is_empty());
}

/// Stores a folder with these folders in it.
async fn folder(server: &TestServer, below: &[Digest], name: &str) -> (Directory, Digest) {
    let folder = Directory {
        directories: below
            .iter()
            .enumerate()
            .map(|(number, digest)| DirectoryNode {
                name: format!("{name}{number}"),
                digest: Some((*digest).into()),
            })
            .collect(),
        ..Default::default()
    };
    let digest = server.store(&folder.encode_to_vec()).await;
    (folder, digest)
}

async fn tree(server: &TestServer, root: Digest) -> Result<Vec<Directory>, tonic::Status> {
    let request = GetTreeRequest {
        root_digest: Some(root.into()),
        ..Default::default()
    };
    let mut pages = server.content().get_tree(request).await?.into_inner();
    let mut folders = Vec::new();
    while let Some(page) = pages.message().await? {
        folders.extend(page.directories);
    }
    Ok(folders)
}

/// Forty folders, each twice in the next one, make 2^40 places. One more folder is missing.
#[tokio::test]
async fn a_tree_comes_with_each_folder_once() {
    let server = start().await;
    let absent = Digest::of(b"absent");
    let (leaf, mut root) = folder(&server, &[absent], "absent").await;
    let mut folders = vec![leaf];
    for level in 0..40 {
        let (next, digest) = folder(&server, &[root, root], &format!("level {level} ")).await;
        folders.insert(0, next);
        root = digest;
    }
    assert_eq!(tree(&server, root).await.unwrap(), folders);
    refused(
        tree(&server, absent).await,
        Code::NotFound,
        "there is no blob",
    );
    let other = server.store(b"\xff not a folder").await;
    refused(
        tree(&server, other).await,
        Code::InvalidArgument,
        "is no folder",
    );
}
