//! One action's way to blobs.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::fs::{self, OpenOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::cache::WorkerCache;
use super::transfer::upload;
use crate::digest::{Digest, Hasher};
use crate::protocol::Run;
use crate::storage::{Range, StorageError};
use crate::worker::{Access, AccessError};

/// A file of that size goes through memory as a whole.
const SMALL: u64 = 1 << 20;

/// One action's way to blobs.
#[derive(Debug)]
pub(super) struct Errand {
    cache: Arc<WorkerCache>,
    /// What came with the order to run it.
    messages: HashMap<Digest, Bytes>,
    sources: HashMap<Digest, String>,
    /// What the coordinator has to get.
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

    /// Sends what was kept to the coordinator.
    pub(super) async fn deliver(&self) -> Result<(), AccessError> {
        let kept = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        let cache = &self.cache;
        let sent = upload(&cache.coordinator, &cache.instance, kept, &cache.blobs).await;
        sent.map_err(|error| AccessError::Unreachable(Box::new(error)))
    }

    async fn need(&self, blob: Digest) -> Result<(), AccessError> {
        let source = self.sources.get(&blob).map(String::as_str);
        self.cache.need(blob, source).await
    }

    fn is_kept(&self, blob: Digest) -> Result<Digest, AccessError> {
        if blob != Digest::EMPTY {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push(blob);
            drop(kept);
            self.cache.tell(blob)?;
        }
        Ok(blob)
    }
}

impl Access for Errand {
    async fn read(&self, blob: Digest) -> Result<Bytes, AccessError> {
        if let Some(message) = self.messages.get(&blob) {
            return Ok(message.clone());
        }
        self.need(blob).await?;
        Ok(self.cache.blobs.read(blob).await?)
    }

    async fn place(&self, blob: Digest, path: &Path, executable: bool) -> Result<(), AccessError> {
        self.need(blob).await?;
        let mode = if executable { 0o755 } else { 0o644 };
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(path)
            .await?;
        if blob.size() <= SMALL {
            file.write_all(&self.cache.blobs.read(blob).await?).await?;
        } else {
            let mut reader = self.cache.blobs.open(blob, Range::ALL).await?;
            while let Some(piece) = reader.next().await? {
                file.write_all(&piece).await?;
            }
        }
        file.flush().await?;
        Ok(())
    }

    async fn keep(&self, path: &Path) -> Result<Digest, AccessError> {
        if fs::metadata(path).await?.len() <= SMALL {
            return self.write(fs::read(path).await?.into()).await;
        }
        let blob = digest(path).await?;
        let mut file = fs::File::open(path).await?;
        let mut writer = self.cache.blobs.writer(blob).await?;
        loop {
            let mut piece = Vec::with_capacity(SMALL as usize);
            if file.read_buf(&mut piece).await? == 0 {
                break;
            }
            writer.write(piece.into()).await?;
        }
        writer.finish().await?;
        self.is_kept(blob)
    }

    async fn write(&self, bytes: Bytes) -> Result<Digest, AccessError> {
        let blob = Digest::of(&bytes);
        match self.cache.blobs.contains(blob).await {
            Ok(true) => {}
            Ok(false) => self.cache.blobs.write(blob, bytes).await?,
            Err(error) => return Err(StorageError::into(error)),
        }
        self.is_kept(blob)
    }
}

/// Of a file of any size.
async fn digest(path: &Path) -> Result<Digest, AccessError> {
    let mut file = fs::File::open(path).await?;
    let mut hasher = Hasher::new();
    let mut piece = Vec::with_capacity(SMALL as usize);
    while file.read_buf(&mut piece).await? > 0 {
        hasher.update(&piece);
        piece.clear();
    }
    Ok(hasher.digest())
}
