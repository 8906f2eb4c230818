//! Trouble with a cache's disk: bytes that rot, too little space, another process, a restart.

use std::fs;
use std::path::Path;

use filch_build::digest::Digest;
use filch_build::server::{Config, Server, StartError};
use filch_build::storage::{Limits, Location, Storage, StorageError, Usage};
use tonic::Code;

use crate::client::refused;
use crate::server::{noise, start, start_with};

#[tokio::test]
async fn what_rots_is_refused_and_removed() {
    let server = start().await;
    for size in [100, 5 << 20] {
        for place in [0, size - 1] {
            let mut bytes = noise(size, place as u64);
            let digest = server.store(&bytes).await;
            bytes[place] ^= 1;
            fs::write(server.file(digest), &bytes).unwrap();
            refused(server.read(digest).await, Code::DataLoss, "are those of");
            assert!(!server.has(digest).await);
            assert!(!server.file(digest).exists());
            let gone = server.read(digest).await;
            refused(gone, Code::NotFound, "there is no blob");
            bytes[place] ^= 1;
            assert_eq!(server.store(&bytes).await, digest);
            assert!(server.read(digest).await.unwrap() == bytes);
        }
    }
    // The part that was asked for may be right, but the whole blob is checked.
    let mut bytes = noise(5 << 20, 9);
    let digest = server.store(&bytes).await;
    bytes[4 << 20] ^= 1;
    fs::write(server.file(digest), &bytes).unwrap();
    let part = server.read_part(digest, 0, 10).await;
    refused(part, Code::DataLoss, "are those of");
    // By HTTP, the head has been sent by the time the error is found.
    let digest = server.store(&noise(5 << 20, 10)).await;
    fs::write(server.file(digest), &bytes).unwrap();
    let answer = server
        .http("GET", &format!("/cas/{}", digest.hex()), "")
        .await;
    assert_eq!(answer.body, None, "a wrong blob came whole");
    assert_eq!(server.counters().corrupt.get(), 6);
}

#[tokio::test]
async fn what_somebody_removed_is_missing() {
    let server = start().await;
    let digest = server.store(b"soon gone").await;
    fs::remove_file(server.file(digest)).unwrap();
    let gone = server.read(digest).await;
    refused(gone, Code::NotFound, "there is no blob");
    assert!(!server.has(digest).await);
    let digest = server.store(b"soon cut").await;
    fs::write(server.file(digest), "soon").unwrap();
    let gone = server.read(digest).await;
    refused(gone, Code::NotFound, "there is no blob");
    assert_eq!(server.store(b"soon cut").await, digest);
}

#[tokio::test]
async fn what_was_stored_outlives_a_restart() {
    let server = start().await;
    let bytes = noise(2 << 20, 11);
    let digest = server.store(&bytes).await;
    fs::write(server.folder.path().join("temporary/half"), "half").unwrap();
    fs::write(server.folder.path().join("blobs/00/notes.txt"), "not ours").unwrap();
    let server = server.restart(|_| {}).await;
    assert!(server.read(digest).await.unwrap() == bytes);
    server.temporary_files(0).await;
    let usage = Usage {
        entries: 1,
        bytes: 2 << 20,
    };
    server.uses(usage).await;
}

#[tokio::test]
async fn what_was_not_used_for_the_longest_time_goes() {
    let limit = |config: &mut Config| {
        config.limits = Limits {
            blob: 1 << 20,
            disk: 4 * 4096 + 100,
            ..Limits::default()
        };
    };
    let server = start_with(limit).await;
    let mut blobs = Vec::new();
    for seed in 0..4 {
        blobs.push(server.store(&noise(4000, seed)).await);
    }
    // Asking for a blob is a use, and so is reading it.
    assert!(server.has(blobs[0]).await);
    server.read(blobs[1]).await.unwrap();
    let fifth = server.store(&noise(4096, 5)).await;
    assert!(!server.file(blobs[2]).exists());
    // The order is on the disk too.
    let server = server.restart(limit).await;
    let sixth = server.store(&noise(1, 6)).await;
    let seventh = server.store(&noise(1, 7)).await;
    let kept = vec![blobs[1], fifth, sixth, seventh];
    assert_eq!(server.missing(kept).await.unwrap(), []);
    server
        .uses(Usage {
            entries: 4,
            bytes: 4 * 4096,
        })
        .await;
    // A restart with less space makes room at once.
    let server = server.restart(|config| config.limits.disk = 4096).await;
    server
        .uses(Usage {
            entries: 1,
            bytes: 4096,
        })
        .await;
    let large = noise(4097, 7);
    let path = format!("/cas/{}", Digest::of(&large).hex());
    let answer = server.http("PUT", &path, large).await;
    answer.is(413);
    assert!(answer.text().contains("4096 bytes at most"));
    server.temporary_files(0).await;
}

/// A blob that is removed while it is read is read to its end.
#[tokio::test]
async fn a_reader_keeps_what_goes() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        blob: 8 << 20,
        disk: 8 << 20,
        ..Limits::default()
    };
    let location = Location::Disk(folder.path().to_owned());
    let blobs = Storage::open(&location, limits).await.unwrap().blobs;
    let bytes = noise(6 << 20, 12);
    let digest = Digest::of(&bytes);
    blobs.write(digest, bytes.clone().into()).await.unwrap();
    let mut reader = blobs.open(digest, Default::default()).await.unwrap();
    let mut read = reader.next().await.unwrap().unwrap().to_vec();
    let other = noise(4 << 20, 13);
    blobs.write(Digest::of(&other), other.into()).await.unwrap();
    assert!(!blobs.contains(digest).await.unwrap());
    while let Some(piece) = reader.next().await.unwrap() {
        read.extend(piece);
    }
    assert!(read == bytes);
    let missing = blobs.open(digest, Default::default()).await;
    assert!(matches!(missing, Err(StorageError::Missing(_))));
}

#[tokio::test]
async fn a_folder_is_one_process_s() {
    let server = start().await;
    let refusal = async |folder: &Path| {
        let config = Config {
            storage: Location::Disk(folder.to_owned()),
            ..Config::default()
        };
        let error = Server::start(config).await.unwrap_err();
        assert!(matches!(error, StartError::Storage { .. }));
        error.to_string()
    };
    let error = refusal(server.folder.path()).await;
    assert!(
        error.contains("another process uses this folder"),
        "{error}"
    );
    let file = server.folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = refusal(&file).await;
    assert!(error.contains("cannot be used"), "{error}");
}
