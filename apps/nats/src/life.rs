//! The life of a node: one run of its transport.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::num::NonZeroU64;

/// One life of a node: a random number that its transport has from its start to its end. A node
/// that comes back has another life, and counts as another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Life(NonZeroU64);

impl Life {
    /// Draws a life that is new, but for a chance of 1 in 2⁶⁴.
    pub(crate) fn begin() -> Self {
        loop {
            // The system has drawn the keys of std's hashers.
            if let Some(life) = Self::from_bits(RandomState::new().build_hasher().finish()) {
                return life;
            }
        }
    }

    /// Returns the life as a number, which is not 0.
    pub fn to_bits(self) -> u64 {
        self.0.get()
    }

    /// Makes a life of a number; 0 is none.
    pub(crate) fn from_bits(bits: u64) -> Option<Self> {
        NonZeroU64::new(bits).map(Self)
    }
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
