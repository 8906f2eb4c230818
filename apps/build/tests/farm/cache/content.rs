//! Blobs in batches, and trees.

use filch_build::cache::MAX_BATCH;
use filch_build::digest::Digest;
use filch_build::farm::FarmConfig;
use filch_build::reapi::capabilities_client::CapabilitiesClient;
use filch_build::reapi::{
    self, BatchReadBlobsRequest, Directory, DirectoryNode, FindMissingBlobsRequest,
    GetCapabilitiesRequest, GetTreeRequest, SymlinkNode, compressor, digest_function,
};
use prost::Message as _;
use tonic::{Code, Status};

use crate::client::{Client, batch, coordinator, refused};
use crate::server::{TestServer, noise, start, start_with};

/// Stores a batch; returns the code for each blob.
pub(crate) async fn codes(client: &Client, blobs: &[(Digest, &[u8])]) -> Vec<i32> {
    let answer = client.content().batch_update_blobs(batch(blobs)).await;
    let statuses = answer.unwrap().into_inner().responses.into_iter();
    statuses.map(|blob| blob.status.unwrap().code).collect()
}

/// Reads a batch; returns the code and the bytes for each blob.
pub(crate) async fn read_batch(
    client: &Client,
    digests: Vec<reapi::Digest>,
) -> Result<Vec<(i32, Vec<u8>)>, Status> {
    let request = BatchReadBlobsRequest {
        digests,
        ..Default::default()
    };
    let answer = client.content().batch_read_blobs(request).await?;
    let found = answer.into_inner().responses.into_iter();
    let found = found.map(|blob| (blob.status.unwrap().code, blob.data));
    Ok(found.collect())
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
    for sizes in [vec![MAX_BATCH as i64 + 1], vec![i64::MAX; 3]] {
        let digests = sizes.into_iter().map(|size_bytes| reapi::Digest {
            hash: digest.hex(),
            size_bytes,
        });
        let answer = read_batch(&server, digests.collect()).await;
        refused(answer, Code::InvalidArgument, "use ByteStream");
    }
}

/// Each blob takes more of an answer than its bytes; clients take 4 MiB.
#[tokio::test]
async fn the_answer_to_a_batch_is_one_that_clients_take() {
    let (_server, client) = coordinator(FarmConfig::default()).await;
    let limit = MAX_BATCH as usize;
    for (count, size) in [(900, limit / 900), (4000, limit / 4000), (10_000, 10)] {
        let blobs: Vec<_> = (0..count)
            .map(|number| {
                let mut bytes = format!("{number} ").into_bytes();
                bytes.resize(size, b'x');
                (Digest::of(&bytes), bytes)
            })
            .collect();
        let sent: Vec<_> = blobs
            .iter()
            .map(|(blob, bytes)| (*blob, &**bytes))
            .collect();
        for part in sent.chunks(5000) {
            assert!(codes(&client, part).await.iter().all(|&code| code == 0));
        }
        let digests = blobs.iter().map(|&(blob, _)| blob.into()).collect();
        let found = read_batch(&client, digests).await.unwrap();
        let expected = blobs.into_iter().map(|(_, bytes)| (0, bytes));
        assert!(found == expected.collect::<Vec<_>>(), "{count} blobs");
    }
    let absent = |number: u32| Digest::of(&number.to_le_bytes());
    let too_many = (0..32_000).map(|number| absent(number).into()).collect();
    let answer = read_batch(&client, too_many).await;
    refused(
        answer.map(drop),
        Code::InvalidArgument,
        "in several requests",
    );
    let wrong: Vec<_> = (0..32_000)
        .map(|number| (absent(number), &b"wrong"[..]))
        .collect();
    // There is room for their codes, though not for what is wrong.
    assert_eq!(
        codes(&client, &wrong).await,
        [Code::InvalidArgument as i32; 32_000]
    );
    // Here there would not be: nothing is stored.
    let many: Vec<_> = (0..60_000_u32).map(u32::to_le_bytes).collect();
    let many: Vec<_> = many
        .iter()
        .map(|bytes| (Digest::of(bytes), &bytes[..]))
        .collect();
    let answer = client.content().batch_update_blobs(batch(&many)).await;
    refused(
        answer.map(drop),
        Code::InvalidArgument,
        "in several requests",
    );
    let digests: Vec<_> = many.iter().map(|(digest, _)| *digest).collect();
    for part in digests.chunks(50_000) {
        assert_eq!(client.missing(part.to_vec()).await.unwrap(), part);
    }
    let refusal = client.missing(digests).await;
    refused(refusal, Code::InvalidArgument, "in several requests");
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
    let capabilities = async |name: &str| {
        let instance_name = name.into();
        let request = GetCapabilitiesRequest { instance_name };
        let mut client = CapabilitiesClient::new(server.channel.clone());
        client.get_capabilities(request).await
    };
    let answer = capabilities("other").await;
    refused(answer, Code::InvalidArgument, "there is no instance");
    let answer = capabilities("main").await.unwrap().into_inner();
    let cache = answer.cache_capabilities.unwrap();
    let sha256: i32 = digest_function::Value::Sha256.into();
    assert_eq!(cache.digest_functions, [sha256]);
    assert_eq!(cache.max_batch_total_size_bytes, MAX_BATCH as i64);
    let zstd: i32 = compressor::Value::Zstd.into();
    assert_eq!(cache.supported_compressors, [zstd]);
}

/// Stores a folder with these folders in it.
async fn folder(server: &TestServer, below: &[Digest], name: &str) -> (Directory, Digest) {
    let below = below.iter().enumerate();
    let node = |(number, digest): (usize, &Digest)| DirectoryNode {
        name: format!("{name}{number}"),
        digest: Some((*digest).into()),
    };
    let folder = Directory {
        directories: below.map(node).collect(),
        ..Default::default()
    };
    let digest = server.message(&folder).await;
    (folder, digest)
}

async fn tree(
    server: &TestServer,
    root_digest: Option<reapi::Digest>,
) -> Result<Vec<Directory>, Status> {
    let pages = pages(server, root_digest, 0).await?;
    Ok(pages.into_iter().flatten().collect())
}

/// Reads a tree, with so many folders in a page at most.
pub(crate) async fn pages(
    server: &TestServer,
    root_digest: Option<reapi::Digest>,
    page_size: i32,
) -> Result<Vec<Vec<Directory>>, Status> {
    let request = GetTreeRequest {
        root_digest,
        page_size,
        ..Default::default()
    };
    let mut stream = server.content().get_tree(request).await?.into_inner();
    let mut pages = Vec::new();
    while let Some(page) = stream.message().await? {
        pages.push(page.directories);
    }
    Ok(pages)
}

#[tokio::test]
async fn a_page_of_a_tree_is_as_large_as_its_client_takes() {
    let server = start().await;
    let mut below = Vec::new();
    let mut folders = Vec::new();
    // Together they are too large for a message.
    for (number, size) in [900_000, 3_500_000, 1, 1, 1].into_iter().enumerate() {
        let link = SymlinkNode {
            name: format!("link {number}"),
            target: "x".repeat(size),
            ..Default::default()
        };
        let folder = Directory {
            symlinks: vec![link],
            ..Default::default()
        };
        below.push(server.store(&folder.encode_to_vec()).await);
        folders.push(folder);
    }
    let (top, root) = folder(&server, &below, "below").await;
    folders.insert(0, top);
    let root = Some(root.into());
    for (most, sizes) in [(0, vec![2, 1, 3]), (2, vec![2, 1, 2, 1]), (1, vec![1; 6])] {
        let pages = pages(&server, root.clone(), most).await.unwrap();
        assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), sizes);
        assert!(pages.concat() == folders);
    }
    let answer = pages(&server, root, -1).await;
    refused(answer, Code::InvalidArgument, "negative");
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
    let tree = async |root: Digest| tree(&server, Some(root.into())).await;
    assert_eq!(tree(root).await.unwrap(), folders);
    refused(tree(absent).await, Code::NotFound, "there is no blob");
    let other = server.store(b"\xff not a folder").await;
    refused(tree(other).await, Code::InvalidArgument, "is no folder");
}
