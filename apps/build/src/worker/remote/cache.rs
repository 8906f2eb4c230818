//! The blobs of a worker, and the ways to get others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use filch_sync::lock;
use tonic::Code;

use super::channel::Authorized;
use super::peers::Peers;
use super::transfer::download;
use crate::digest::Digest;
use crate::storage::{Blobs, StorageError};

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
