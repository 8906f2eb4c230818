//! A cache of folders: the actions of a build share most of theirs.

use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use filch_sync::lock;
use lru::LruCache;

use crate::digest::Digest;
use crate::reapi::Directory;

/// The most folders that are kept; the least recently used ones go first.
const MOST: NonZero<usize> = NonZero::new(8192).unwrap();

/// A folder, and the message that encodes it.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) message: Bytes,
    pub(super) directory: Directory,
}

/// The folders that were read lately.
#[derive(Debug)]
pub(super) struct Folders(Mutex<LruCache<Digest, Arc<Folder>>>);

impl Default for Folders {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MOST)))
    }
}

impl Folders {
    pub(super) fn get(&self, digest: Digest) -> Option<Arc<Folder>> {
        self.lock().get(&digest).cloned()
    }

    pub(super) fn put(&self, digest: Digest, folder: &Arc<Folder>) {
        self.lock().put(digest, Arc::clone(folder));
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<Digest, Arc<Folder>>> {
        lock(&self.0)
    }
}
