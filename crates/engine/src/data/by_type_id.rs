//! A hasher for type ids, which are hashes already.

use std::hash::{BuildHasherDefault, Hasher};

/// The hasher of a map from type ids: their own bits are their hash.
pub(crate) type ByTypeId = BuildHasherDefault<OwnBits>;

#[derive(Default)]
pub(crate) struct OwnBits(u64);

impl Hasher for OwnBits {
    fn finish(&self) -> u64 {
        self.0
    }

    /// Takes the bits that a type id writes.
    fn write_u64(&mut self, bits: u64) {
        self.0 = bits;
    }

    /// Works, but std never hashes a type id by it.
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }
}
