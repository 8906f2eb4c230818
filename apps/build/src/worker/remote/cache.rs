//! The blobs of a worker, and the ways to get others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use filch_sync::lock;
use tonic::Code;

use super::channel::Authorized;
use super::peers::Peers;
use super::traffic::Counting;
use super::transfer::{TransferError, download};
use crate::digest::Digest;
use crate::storage::{Blobs, StorageError};
use crate::worker::AccessError;

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
    pub(super) async fn need(&self, blob: Digest, source: Option<&str>) -> Result<(), AccessError> {
        if self.blobs.contains(blob).await? {
            self.counting.count(|traffic| traffic.hits += 1);
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
                    self.counting.count(|traffic| traffic.from_workers += 1);
                    return Ok(());
                }
                Err(why) => {
                    tracing::warn!("{blob} did not come from the worker at {address}: {why}");
                    self.counting.count(|traffic| traffic.failed += 1);
                }
            }
        }
        let (instance, from) = (&self.instance, self.coordinator.clone());
        match download(from, instance, blob, &self.blobs).await {
            Ok(()) => {
                self.counting.count(|traffic| traffic.from_coordinator += 1);
                Ok(())
            }
            Err(TransferError::Status(status)) if status.code() == Code::NotFound => {
                Err(AccessError::Missing(blob))
            }
            Err(TransferError::Storage(StorageError::Missing(_))) => {
                Err(AccessError::Missing(blob))
            }
            Err(TransferError::Storage(error)) => Err(AccessError::Storage(error)),
            Err(error) => Err(AccessError::Unreachable(Box::new(error))),
        }
    }

    async fn fetch_from_worker(&self, blob: Digest, address: &str) -> Result<(), String> {
        let channel = self
            .peers
            .channel(address)
            .map_err(|error| error.to_string())?;
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
