//! The hashes of names: faster than the standard ones, which would be half of a registration.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Two secret numbers of a map: someone who chooses names does not know which of them collide.
#[derive(Debug, Clone, Copy)]
pub(super) struct Secret {
    begin: u64,
    multiplier: u64,
}

impl Default for Secret {
    fn default() -> Self {
        let random = RandomState::new();
        Self {
            begin: random.hash_one(0),
            multiplier: random.hash_one(1) | 1,
        }
    }
}

impl BuildHasher for Secret {
    type Hasher = Folding;

    fn build_hasher(&self) -> Folding {
        Folding {
            state: self.begin,
            multiplier: self.multiplier,
        }
    }
}

/// Multiplies, and folds the product's halves: of each eight bytes.
pub(super) struct Folding {
    state: u64,
    multiplier: u64,
}

impl Folding {
    fn add(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.multiplier);
        self.state = product as u64 ^ (product >> 64) as u64;
    }
}

impl Hasher for Folding {
    fn write(&mut self, bytes: &[u8]) {
        let length = self.multiplier.wrapping_mul(bytes.len() as u64);
        self.state = self.state.wrapping_add(length);
        let (words, _) = bytes.as_chunks();
        for word in words {
            self.add(u64::from_le_bytes(*word));
        }
        // The last eight once more, in place of the rest; of fewer, all.
        self.add(match bytes.last_chunk() {
            Some(word) => u64::from_le_bytes(*word),
            None => bytes
                .iter()
                .fold(0, |word, &byte| word << 8 | u64::from(byte)),
        });
    }

    /// The end of a text, of which the length tells already.
    fn write_u8(&mut self, _end: u8) {}

    fn finish(&self) -> u64 {
        self.state
    }
}
