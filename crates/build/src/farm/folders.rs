//! Folders that were read before: the actions of a build have most of theirs in common.

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::digest::Digest;
use crate::reapi::Directory;

/// Of each age. What was not asked for while that many others were is forgotten.
const MOST: usize = 4096;

/// A folder, and the message that it is.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) message: Bytes,
    pub(super) directory: Directory,
}

/// Folders that were read before: those asked for lately, and those before.
#[derive(Debug, Default)]
pub(super) struct Folders {
    ages: Mutex<[HashMap<Digest, Arc<Folder>>; 2]>,
}

impl Folders {
    pub(super) fn get(&self, digest: Digest) -> Option<Arc<Folder>> {
        let mut ages = self.ages.lock().unwrap_or_else(PoisonError::into_inner);
        let [young, old] = &mut *ages;
        if let Some(folder) = young.get(&digest) {
            return Some(Arc::clone(folder));
        }
        let folder = old.remove(&digest)?;
        put(&mut ages, digest, &folder);
        Some(folder)
    }

    pub(super) fn put(&self, digest: Digest, folder: &Arc<Folder>) {
        let mut ages = self.ages.lock().unwrap_or_else(PoisonError::into_inner);
        put(&mut ages, digest, folder);
    }
}

fn put(ages: &mut [HashMap<Digest, Arc<Folder>>; 2], digest: Digest, folder: &Arc<Folder>) {
    if ages[0].len() == MOST {
        ages[1] = mem::take(&mut ages[0]);
    }
    ages[0].insert(digest, Arc::clone(folder));
}
