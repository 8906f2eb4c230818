//! One number for a lot of data: it tells whether two runs are equal to the last bit.

use std::fmt;

/// FNV-1a, of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Checksum(u64);

impl Checksum {
    pub(super) const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    pub(super) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Checksum;

    #[test]
    fn it_is_the_published_function() {
        let mut sum = Checksum::EMPTY;
        sum.add(b"foo");
        sum.add(b"bar");
        assert_eq!(sum.to_string(), "85944171f73967e8");
    }
}
