//! Sends and receives blobs by the Remote Execution API.

use std::time::Duration;

use bazel_remote_apis::google::bytestream::byte_stream_client::ByteStreamClient;
use bazel_remote_apis::google::bytestream::{ReadRequest, WriteRequest};
use futures_util::stream;
use tokio::time::timeout;
use tonic::Status;

use super::channel::Authorized;
use crate::cache::MAX_BATCH;
use crate::digest::Digest;
use crate::reapi::content_addressable_storage_client::ContentAddressableStorageClient;
use crate::reapi::{BatchUpdateBlobsRequest, FindMissingBlobsRequest, batch_update_blobs_request};
use crate::storage::{Blobs, Range, StorageError};

/// The time in which the next piece of a blob has to come.
const PATIENCE: Duration = Duration::from_secs(20);
/// The bytes that a message has beside a blob: its digest.
const BESIDE: u64 = 128;
/// The most blobs in one question: the answer may name all of them, in one message.
const AT_ONCE: usize = 10_000;

/// Gets a blob from the coordinator or another worker. Wrong bytes are not stored.
pub(super) async fn download(
    from: Authorized,
    instance: &str,
    blob: Digest,
    to: &Blobs,
) -> Result<(), StorageError> {
    let request = ReadRequest {
        resource_name: name(instance, &format!("blobs/{blob}")),
        ..ReadRequest::default()
    };
    let mut client = ByteStreamClient::new(from).max_decoding_message_size(usize::MAX);
    let mut pieces = soon(client.read(request)).await?.into_inner();
    let mut writer = to.writer(blob).await?;
    while let Some(piece) = soon(pieces.message()).await? {
        writer.write(piece.data.into()).await?;
    }
    writer.finish().await?;
    Ok(())
}

/// Sends those of the blobs that the coordinator lacks.
pub(super) async fn upload(
    to: &Authorized,
    instance: &str,
    blobs: &[Digest],
    from: &Blobs,
) -> Result<(), StorageError> {
    for blobs in blobs.chunks(AT_ONCE) {
        upload_some(to, instance, blobs, from).await?;
    }
    Ok(())
}

async fn upload_some(
    to: &Authorized,
    instance: &str,
    blobs: &[Digest],
    from: &Blobs,
) -> Result<(), StorageError> {
    let mut content = ContentAddressableStorageClient::new(to.clone());
    let request = FindMissingBlobsRequest {
        instance_name: instance.to_owned(),
        blob_digests: blobs.iter().map(|&blob| blob.into()).collect(),
        ..FindMissingBlobsRequest::default()
    };
    let missing = soon(content.find_missing_blobs(request))
        .await?
        .into_inner();
    let mut batch = Vec::new();
    let mut size = 0;
    for digest in &missing.missing_blob_digests {
        let blob = Digest::try_from(digest);
        let blob = blob.map_err(|error| Status::internal(error.to_string()))?;
        if blob.size() + BESIDE > MAX_BATCH {
            upload_large(to, instance, blob, from).await?;
            continue;
        }
        if size + blob.size() + BESIDE > MAX_BATCH {
            send(&mut content, instance, std::mem::take(&mut batch)).await?;
            size = 0;
        }
        size += blob.size() + BESIDE;
        batch.push(batch_update_blobs_request::Request {
            digest: Some(digest.clone()),
            data: from.read(blob).await?.into(),
            ..Default::default()
        });
    }
    send(&mut content, instance, batch).await
}

async fn send(
    content: &mut ContentAddressableStorageClient<Authorized>,
    instance: &str,
    batch: Vec<batch_update_blobs_request::Request>,
) -> Result<(), StorageError> {
    if batch.is_empty() {
        return Ok(());
    }
    let request = BatchUpdateBlobsRequest {
        instance_name: instance.to_owned(),
        requests: batch,
        ..BatchUpdateBlobsRequest::default()
    };
    let answers = soon(content.batch_update_blobs(request))
        .await?
        .into_inner();
    let statuses = answers
        .responses
        .into_iter()
        .filter_map(|answer| answer.status);
    match { statuses }.find(|status| status.code != 0) {
        Some(status) => Err(Status::new(status.code.into(), status.message).into()),
        None => Ok(()),
    }
}

async fn upload_large(
    to: &Authorized,
    instance: &str,
    blob: Digest,
    from: &Blobs,
) -> Result<(), StorageError> {
    let reader = from.open(blob, Range::default()).await?;
    let upload = format!("uploads/{}/blobs/{blob}", uuid::Uuid::new_v4());
    let resource_name = name(instance, &upload);
    let requests = stream::unfold(Some((reader, 0)), move |state| {
        let resource_name = resource_name.clone();
        async move {
            let (mut reader, offset) = state?;
            // After an error the other side sees an upload without an end, and refuses it.
            let data: Vec<u8> = reader.next().await.ok()??.into();
            let end = offset + data.len() as u64;
            let finish_write = end == blob.size();
            let request = WriteRequest {
                resource_name,
                write_offset: i64::try_from(offset).unwrap_or(i64::MAX),
                finish_write,
                data,
            };
            Some((request, (!finish_write).then_some((reader, end))))
        }
    });
    let mut client = ByteStreamClient::new(to.clone());
    let written = client.write(requests).await?.into_inner();
    if u64::try_from(written.committed_size) != Ok(blob.size()) {
        return Err(Status::data_loss(format!("{blob} was not taken as a whole")).into());
    }
    Ok(())
}

fn name(instance: &str, rest: &str) -> String {
    match instance {
        "" => rest.to_owned(),
        instance => format!("{instance}/{rest}"),
    }
}

async fn soon<T>(call: impl Future<Output = Result<T, Status>>) -> Result<T, StorageError> {
    match timeout(PATIENCE, call).await {
        Ok(answer) => Ok(answer?),
        Err(_) => {
            let silent = format!("nothing has come for {PATIENCE:?}");
            Err(Status::deadline_exceeded(silent).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use tonic::transport::ClientTlsConfig;

    use super::super::channel::channel;
    use super::upload;
    use crate::digest::Digest;
    use crate::server::{Config, Server};
    use crate::storage::Blobs;

    /// An answer that names all of them would be larger than a message may be.
    #[tokio::test]
    async fn any_number_of_blobs_is_sent() {
        let server = Server::start(Config::default()).await.unwrap();
        let address = format!("http://{}", server.address());
        let to = channel(&address, None, &ClientTlsConfig::new()).unwrap();
        let from = Blobs::in_memory();
        let mut blobs = Vec::new();
        for number in 0..60_000_u32 {
            let bytes = number.to_le_bytes();
            let blob = Digest::of(&bytes);
            from.write(blob, bytes.to_vec().into()).await.unwrap();
            blobs.push(blob);
        }
        upload(&to, "", &blobs, &from).await.unwrap();
        let there = &server.cache().storage().blobs;
        assert_eq!(there.missing(blobs).await.unwrap(), []);
    }
}
