//! A client that speaks the Remote Execution API.

use std::sync::Arc;

use bazel_remote_apis::google::bytestream::byte_stream_client::ByteStreamClient;
use bazel_remote_apis::google::bytestream::{ReadRequest, WriteRequest};
use filch_build::digest::Digest;
use filch_build::reapi::action_cache_client::ActionCacheClient;
use filch_build::reapi::content_addressable_storage_client::ContentAddressableStorageClient;
use filch_build::reapi::{
    ActionResult, BatchReadBlobsRequest, BatchUpdateBlobsRequest, FindMissingBlobsRequest,
    GetActionResultRequest, OutputFile, UpdateActionResultRequest, batch_update_blobs_request,
};
use futures_util::stream;
use tonic::transport::Channel;

use crate::rate::{Rate, report};
use crate::servers::Process;
use crate::{Blobs, Result};

/// Looks for blobs, stores and reads them, in batches.
pub(crate) async fn batches(channel: &Channel, blobs: &Blobs) -> Result<()> {
    let mut client =
        ContentAddressableStorageClient::new(channel.clone()).max_decoding_message_size(8 << 20);
    for batch in blobs.chunks(100) {
        let digests: Vec<_> = batch.iter().map(|(digest, _)| (*digest).into()).collect();
        let request = FindMissingBlobsRequest {
            blob_digests: digests.clone(),
            ..Default::default()
        };
        let missing = client.find_missing_blobs(request).await?.into_inner();
        assert_eq!(missing.missing_blob_digests.len(), batch.len());
        let requests = batch.iter().map(|(digest, data)| update(*digest, data));
        let request = BatchUpdateBlobsRequest {
            requests: requests.collect(),
            ..Default::default()
        };
        let answer = client.batch_update_blobs(request).await?.into_inner();
        let mut stored = answer.responses.iter();
        assert!(stored.all(|blob| blob.status.as_ref().is_some_and(|status| status.code == 0)));
        let request = BatchReadBlobsRequest {
            digests,
            ..Default::default()
        };
        let answer = client.batch_read_blobs(request).await?.into_inner();
        let mut read = answer.responses.iter().zip(batch);
        assert!(read.all(|(read, (_, data))| read.data == data[..]));
    }
    Ok(())
}

fn update(digest: Digest, data: &[u8]) -> batch_update_blobs_request::Request {
    batch_update_blobs_request::Request {
        digest: Some(digest.into()),
        data: data.to_vec(),
        ..Default::default()
    }
}

/// Stores blobs, all at a time.
pub(crate) async fn write(channel: &Channel, blobs: &Blobs) -> Result<()> {
    let uploads: Vec<_> = (0..blobs.len())
        .map(|number| {
            let (channel, blobs) = (channel.clone(), blobs.clone());
            tokio::spawn(async move {
                let (digest, data) = blobs[number].clone();
                upload(&channel, digest, std::io::Cursor::new(data)).await
            })
        })
        .collect();
    for upload in uploads {
        upload.await??;
    }
    Ok(())
}

/// Stores one blob.
pub(crate) async fn upload(
    channel: &Channel,
    digest: Digest,
    mut source: impl std::io::Read + Send + 'static,
) -> Result<()> {
    let mut offset = 0;
    let pieces = std::iter::from_fn(move || {
        let mut data = vec![0; 64 << 10];
        let read = source.read(&mut data).ok().filter(|read| *read > 0)?;
        data.truncate(read);
        let message = WriteRequest {
            resource_name: format!("uploads/u/blobs/{digest}"),
            write_offset: offset as i64,
            finish_write: offset + read as u64 == digest.size(),
            data,
        };
        offset += read as u64;
        Some(message)
    });
    let mut client = ByteStreamClient::new(channel.clone());
    let answer = client.write(stream::iter(pieces)).await?;
    assert_eq!(answer.into_inner().committed_size as u64, digest.size());
    Ok(())
}

/// Reads blobs, all at a time.
pub(crate) async fn read(channel: &Channel, blobs: &Blobs) -> Result<()> {
    let downloads: Vec<_> = (0..blobs.len())
        .map(|number| {
            let client = ByteStreamClient::new(channel.clone());
            let mut client = client.max_decoding_message_size(8 << 20);
            let blobs = blobs.clone();
            tokio::spawn(async move {
                let (digest, data) = &blobs[number];
                let request = ReadRequest {
                    resource_name: format!("blobs/{digest}"),
                    ..Default::default()
                };
                let mut pieces = client.read(request).await?.into_inner();
                let mut rest = &data[..];
                while let Some(piece) = pieces.message().await? {
                    rest = rest.strip_prefix(&piece.data[..]).expect("the blob");
                }
                assert!(rest.is_empty());
                Result::Ok(())
            })
        })
        .collect();
    for download in downloads {
        download.await??;
    }
    Ok(())
}

/// Asks for known results, as a build does in which nothing has changed.
pub(crate) async fn actions(channel: &Channel, server: &Process, rounds: usize) -> Result<()> {
    const ACTIONS: usize = 10_000;
    let mut client = ActionCacheClient::new(channel.clone());
    let mut content = ContentAddressableStorageClient::new(channel.clone());
    let output = [7; 100];
    let digest = Digest::of(&output);
    let request = BatchUpdateBlobsRequest {
        requests: vec![update(digest, &output)],
        ..Default::default()
    };
    content.batch_update_blobs(request).await?;
    let actions: Vec<_> = (0..ACTIONS)
        .map(|number| Digest::of(&number.to_le_bytes()))
        .collect();
    for action in &actions {
        let result = ActionResult {
            output_files: vec![OutputFile {
                path: "out".into(),
                digest: Some(digest.into()),
                ..Default::default()
            }],
            ..Default::default()
        };
        client
            .update_action_result(UpdateActionResultRequest {
                action_digest: Some((*action).into()),
                action_result: Some(result),
                ..Default::default()
            })
            .await?;
    }
    let actions = Arc::new(actions);
    let mut rates = Vec::new();
    for _ in 0..rounds {
        let work = get_all(&client, &actions);
        rates.push(Rate::of(server, ACTIONS as f64, work).await?);
    }
    report("10 000 cached actions: GetActionResult", "actions", rates);
    Ok(())
}

/// Asks for all of them, 64 at a time.
async fn get_all(client: &ActionCacheClient<Channel>, actions: &Arc<Vec<Digest>>) -> Result<()> {
    let tasks: Vec<_> = (0..64)
        .map(|first| {
            let (actions, mut client) = (actions.clone(), client.clone());
            tokio::spawn(async move {
                for action in actions.iter().skip(first).step_by(64) {
                    let request = GetActionResultRequest {
                        action_digest: Some((*action).into()),
                        ..Default::default()
                    };
                    client.get_action_result(request).await?;
                }
                Result::Ok(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok(())
}
