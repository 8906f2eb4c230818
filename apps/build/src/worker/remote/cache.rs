//! The blobs of a worker, the ways to get others, and the access of one action to them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, Weak};

use bytes::Bytes;
use filch_sync::lock;
use futures_util::future::FutureExt;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use tonic::{Code, Status};

use super::channel::Authorized;
use super::peers::Peers;
use super::transfer::{download, upload};
use crate::digest::Digest;
use crate::protocol::Run;
use crate::storage::{Blobs, NewFile, StorageError};
use crate::worker::Access;
use crate::worker::inputs::AT_A_TIME;

/// Blobs that have come and gone since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Blobs that were there when an action needed them.
    pub hits: u64,
    /// Blobs that came from other workers.
    pub from_workers: u64,
    /// Blobs that came from the coordinator.
    pub from_coordinator: u64,
    /// Times that another worker lacked a blob that it was said to have.
    pub failed: u64,
    /// Blobs that were given to other workers.
    pub served: u64,
}

pub(super) type Counting = Arc<Mutex<Traffic>>;

/// The transfers that are under way, so that a blob is fetched once.
type Underway = Mutex<HashMap<Digest, Weak<tokio::sync::Mutex<()>>>>;

/// The blobs of a worker, and the ways to get others.
#[derive(Debug)]
pub(super) struct WorkerCache {
    pub(super) blobs: Blobs,
    pub(super) coordinator: Authorized,
    pub(super) instance: String,
    pub(super) peers: Peers,
    pub(super) counting: Counting,
    pub(super) underway: Underway,
}

impl WorkerCache {
    /// Gets the blob, from that worker if one is given, else from the coordinator; once at a time.
    pub(super) async fn need(
        &self,
        blob: Digest,
        source: Option<&str>,
    ) -> Result<(), StorageError> {
        if self.blobs.contains(blob).await? {
            lock(&self.counting).hits += 1;
            return Ok(());
        }
        let transfer = self.transfer(blob);
        let _turn = transfer.lock().await;
        if self.blobs.contains(blob).await? {
            return Ok(());
        }
        if let Some(address) = source {
            match self.fetch_from_worker(blob, address).await {
                Ok(()) => {
                    lock(&self.counting).from_workers += 1;
                    return Ok(());
                }
                Err(why) => {
                    tracing::warn!("{blob} did not come from the worker at {address}: {why}");
                    lock(&self.counting).failed += 1;
                }
            }
        }
        let (instance, from) = (&self.instance, self.coordinator.clone());
        match download(from, instance, blob, &self.blobs).await {
            Err(StorageError::Unreachable(status)) if status.code() == Code::NotFound => {
                return Err(StorageError::Missing(blob));
            }
            came => came?,
        }
        lock(&self.counting).from_coordinator += 1;
        Ok(())
    }

    async fn fetch_from_worker(&self, blob: Digest, address: &str) -> Result<(), String> {
        let channel = self.peers.channel(address)?;
        // Workers serve one instance, which has no name.
        let came = download(channel, "", blob, &self.blobs).await;
        came.map_err(|error| error.to_string())
    }

    fn transfer(&self, blob: Digest) -> Arc<tokio::sync::Mutex<()>> {
        let mut underway = lock(&self.underway);
        if let Some(transfer) = underway.get(&blob).and_then(Weak::upgrade) {
            return transfer;
        }
        underway.retain(|_, transfer| transfer.strong_count() > 0);
        let transfer = Arc::default();
        underway.insert(blob, Arc::downgrade(&transfer));
        transfer
    }
}

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

    async fn place(&self, files: Vec<NewFile>) -> Result<(), StorageError> {
        let count = files.len();
        let lacking = self.cache.blobs.place(files).await?;
        lock(&self.cache.counting).hits += (count - lacking.len()) as u64;
        let fetched = lacking.into_iter().map(|file| {
            async move {
                self.need(file.blob).await?;
                Access::place(&self.cache.blobs, vec![file]).await
            }
            .boxed()
        });
        let mut fetched = stream::iter(fetched).buffer_unordered(AT_A_TIME);
        while let Some(()) = fetched.try_next().await? {}
        Ok(())
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
