//! Uploads whose connections broke, and that may be resumed.

use std::num::NonZero;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use filch_sync::lock;
use lru::LruCache;

use super::resource_name::ResourceName;
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
    uploads: LruCache<ResourceName, (u64, Writer)>,
    /// The number of the next one.
    next: u64,
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
    pub(super) fn park(&self, name: ResourceName, writer: Writer) {
        let mut parked = lock(&self.parked);
        let number = parked.next;
        parked.next += 1;
        parked.uploads.push(name.clone(), (number, writer));
        let all = Arc::downgrade(&self.parked);
        tokio::spawn(forget(all, name, number, self.resumable));
    }

    /// Returns how many bytes of a parked upload have come.
    pub(super) fn taken(&self, name: &ResourceName) -> Option<u64> {
        let parked = lock(&self.parked);
        let (_, writer) = parked.uploads.peek(name)?;
        Some(writer.taken())
    }

    /// Takes an upload out.
    pub(super) fn resume(&self, name: &ResourceName) -> Option<Writer> {
        let (_, writer) = lock(&self.parked).uploads.pop(name)?;
        Some(writer)
    }
}

async fn forget(all: Weak<Mutex<Parked>>, name: ResourceName, number: u64, after: Duration) {
    tokio::time::sleep(after).await;
    let Some(parked) = all.upgrade() else {
        return;
    };
    let mut parked = lock(&parked);
    // The upload may have been resumed, and parked again.
    let upload = parked.uploads.peek(&name);
    if upload.is_some_and(|(its, _)| *its == number) {
        parked.uploads.pop(&name);
    }
}
