//! Uploads whose connections broke, and that may be resumed.

use std::num::NonZero;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use filch_sync::lock;
use lru::LruCache;

use super::resource_name::ResourceName;
use crate::digest::Digest;
use crate::storage::Writer;

/// The most parked uploads: each is a file.
const MAX: NonZero<usize> = NonZero::new(64).unwrap();

/// Uploads whose connections broke, and that may be resumed for a while.
#[derive(Debug)]
pub(super) struct Uploads {
    parked: Arc<Mutex<Parked>>,
    resumable: Duration,
}

#[derive(Debug)]
struct Parked {
    uploads: LruCache<Key, (u64, Writer)>,
    /// The number of the next one.
    next: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    upload: String,
    digest: Digest,
}

impl Key {
    pub(super) fn of(name: ResourceName) -> Self {
        Self {
            upload: name.upload.unwrap_or_default(),
            digest: name.digest,
        }
    }
}

impl Uploads {
    pub(super) fn new(resumable: Duration) -> Self {
        Self {
            parked: Arc::new(Mutex::new(Parked {
                uploads: LruCache::new(MAX),
                next: 0,
            })),
            resumable,
        }
    }

    /// Keeps an upload for a while; if there are too many, drops the oldest.
    pub(super) fn park(&self, key: Key, writer: Writer) {
        let number = {
            let mut parked = lock(&self.parked);
            let number = parked.next;
            parked.next += 1;
            parked.uploads.push(key.clone(), (number, writer));
            number
        };
        tokio::spawn(forget(
            Arc::downgrade(&self.parked),
            key,
            number,
            self.resumable,
        ));
    }

    /// Returns how many bytes of a parked upload have come.
    pub(super) fn taken(&self, key: &Key) -> Option<u64> {
        let parked = lock(&self.parked);
        let (_, writer) = parked.uploads.peek(key)?;
        Some(writer.taken())
    }

    /// Takes an upload out.
    pub(super) fn resume(&self, key: &Key) -> Option<Writer> {
        let (_, writer) = lock(&self.parked).uploads.pop(key)?;
        Some(writer)
    }
}

async fn forget(parked: Weak<Mutex<Parked>>, key: Key, number: u64, after: Duration) {
    tokio::time::sleep(after).await;
    let Some(parked) = parked.upgrade() else {
        return;
    };
    let mut parked = lock(&parked);
    // The upload may have been resumed, and parked again.
    if parked
        .uploads
        .peek(&key)
        .is_some_and(|upload| upload.0 == number)
    {
        parked.uploads.pop(&key);
    }
}
