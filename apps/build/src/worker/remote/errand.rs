//! The access of one action to blobs.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use filch_sync::lock;
use tonic::Status;

use super::cache::WorkerCache;
use super::transfer::upload;
use crate::digest::Digest;
use crate::protocol::Run;
use crate::storage::StorageError;
use crate::worker::Access;

/// The access of one action to blobs.
#[derive(Debug)]
pub(super) struct Errand {
    cache: Arc<WorkerCache>,
    /// The messages that came with the order to run it.
    messages: HashMap<Digest, Bytes>,
    sources: HashMap<Digest, String>,
    /// The blobs that the coordinator has yet to get.
    kept: Mutex<Vec<Digest>>,
}

impl Errand {
    pub(super) fn new(cache: Arc<WorkerCache>, run: Run) -> Self {
        let messages = run.messages.into_iter().map(Bytes::from);
        let messages = messages.map(|message| (Digest::of(&message), message));
        let sources = run.sources.into_iter().filter_map(|source| {
            let blob = Digest::try_from(&source.blob?).ok()?;
            Some((blob, source.address))
        });
        Self {
            cache,
            messages: messages.collect(),
            sources: sources.collect(),
            kept: Mutex::default(),
        }
    }

    /// Sends the kept blobs to the coordinator.
    pub(super) async fn deliver(&self) -> Result<(), StorageError> {
        let kept = std::mem::take(&mut *lock(&self.kept));
        let cache = &self.cache;
        let sent = upload(&cache.coordinator, &cache.instance, &kept, &cache.blobs).await;
        sent.map_err(|error| match error {
            // It was kept a moment ago, so the action is not to blame.
            StorageError::Missing(_) => Status::unavailable(error.to_string()).into(),
            error => error,
        })
    }

    async fn need(&self, blob: Digest) -> Result<(), StorageError> {
        let source = self.sources.get(&blob).map(String::as_str);
        self.cache.need(blob, source).await
    }

    /// Notes that the coordinator has yet to get this blob.
    fn note_kept(&self, blob: Digest) -> Digest {
        if blob != Digest::EMPTY {
            lock(&self.kept).push(blob);
        }
        blob
    }
}

impl Access for Errand {
    async fn read(&self, blob: Digest) -> Result<Bytes, StorageError> {
        if let Some(message) = self.messages.get(&blob) {
            return Ok(message.clone());
        }
        self.need(blob).await?;
        Access::read(&self.cache.blobs, blob).await
    }

    async fn place(&self, blob: Digest, path: &Path, executable: bool) -> Result<(), StorageError> {
        self.need(blob).await?;
        Access::place(&self.cache.blobs, blob, path, executable).await
    }

    async fn keep(&self, path: &Path) -> Result<Digest, StorageError> {
        let blob = Access::keep(&self.cache.blobs, path).await?;
        Ok(self.note_kept(blob))
    }

    async fn write(&self, bytes: Bytes) -> Result<Digest, StorageError> {
        let blob = Access::write(&self.cache.blobs, bytes).await?;
        Ok(self.note_kept(blob))
    }
}
