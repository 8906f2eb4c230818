//! A hash of type ids, which are hashes.

use std::hash::{BuildHasherDefault, Hasher};

/// For a map from type ids: their own bits are their hash.
pub(crate) type ByTypeId = BuildHasherDefault<OwnBits>;

#[derive(Default)]
pub(crate) struct OwnBits(u64);

impl Hasher for OwnBits {
    fn finish(&self) -> u64 {
        self.0
    }

    /// What a type id writes.
    fn write_u64(&mut self, bits: u64) {
        self.0 = bits;
    }

    /// Nothing of std's writes a type id so; it would still be right.
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }
}
