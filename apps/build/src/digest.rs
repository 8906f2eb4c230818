//! The name of a blob: its SHA-256 and its size.

use std::fmt;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::{protocol, reapi};

/// The name of a blob: two blobs with the same digest are equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest {
    hash: [u8; 32],
    size: u64,
}

impl Digest {
    /// The digest of the empty blob, which every storage has.
    pub const EMPTY: Self = Self {
        hash: [
            0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f,
            0xb9, 0x24, 0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b,
            0x78, 0x52, 0xb8, 0x55,
        ],
        size: 0,
    };

    /// Computes the digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::new();
        hasher.update(bytes);
        hasher.digest()
    }

    /// Makes a digest of a hash and a size.
    pub const fn from_hash(hash: [u8; 32], size: u64) -> Self {
        Self { hash, size }
    }

    /// Makes a digest of a hash in hexadecimal digits, and a size.
    ///
    /// # Errors
    /// If the hash is not 64 lower-case hexadecimal digits, or the size is negative.
    pub fn new(hash: &str, size: i64) -> Result<Self, NotADigest> {
        let bad = || NotADigest(format!("not a SHA-256 digest and a size: {hash}/{size}"));
        let size = u64::try_from(size).map_err(|_| bad())?;
        let mut bytes = [0; 32];
        let has_length = hash.len() == 2 * bytes.len();
        if !has_length || HEXLOWER.decode_mut(hash.as_bytes(), &mut bytes).is_err() {
            return Err(bad());
        }
        Ok(Self { hash: bytes, size })
    }

    /// Reads the digest of `what`, a field of a message that has to be there.
    pub(crate) fn of_field(
        digest: Option<&reapi::Digest>,
        what: impl fmt::Display,
    ) -> Result<Self, NotADigest> {
        let wrong = |why: &dyn fmt::Display| NotADigest(format!("the digest of {what} {why}"));
        let digest = digest.ok_or_else(|| wrong(&"is missing"))?;
        Self::try_from(digest).map_err(|error| wrong(&format_args!("is {error}")))
    }

    /// The hash.
    pub const fn hash(&self) -> &[u8; 32] {
        &self.hash
    }

    /// The size of the blob in bytes.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Returns the hash in hexadecimal digits.
    pub fn hex(&self) -> String {
        hex(&self.hash)
    }
}

/// Writes a hash in hexadecimal digits.
pub(crate) fn hex(hash: &[u8; 32]) -> String {
    HEXLOWER.encode(hash)
}

/// Computes a digest of bytes that come in pieces.
#[derive(Debug, Clone, Default)]
pub struct Hasher {
    hasher: Sha256,
    size: u64,
}

impl Hasher {
    /// Starts with no bytes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.size += bytes.len() as u64;
    }

    /// Returns the digest of all bytes so far.
    pub fn digest(self) -> Digest {
        Digest {
            hash: self.hasher.finalize().into(),
            size: self.size,
        }
    }
}

/// The error for a text or message that is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct NotADigest(String);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.hex(), self.size)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl TryFrom<&reapi::Digest> for Digest {
    type Error = NotADigest;

    fn try_from(digest: &reapi::Digest) -> Result<Self, NotADigest> {
        Self::new(&digest.hash, digest.size_bytes)
    }
}

impl From<Digest> for reapi::Digest {
    fn from(digest: Digest) -> Self {
        Self {
            hash: digest.hex(),
            size_bytes: i64::try_from(digest.size).unwrap_or(i64::MAX),
        }
    }
}

impl TryFrom<&protocol::Digest> for Digest {
    type Error = NotADigest;

    fn try_from(digest: &protocol::Digest) -> Result<Self, NotADigest> {
        let size = digest.size;
        match digest.hash.as_slice().try_into() {
            Ok(hash) => Ok(Self { hash, size }),
            // It is too short or too long, and this says so.
            Err(_) => Self::new(&HEXLOWER.encode(&digest.hash), size.cast_signed()),
        }
    }
}

impl From<Digest> for protocol::Digest {
    fn from(digest: Digest) -> Self {
        Self {
            hash: digest.hash.to_vec(),
            size: digest.size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Digest;

    #[test]
    fn text_and_digest_are_the_same() {
        let digest = Digest::of(b"abc");
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), format!("{hex}/3"));
        assert_eq!(Digest::new(hex, 3), Ok(digest));
        assert_eq!(Digest::of(b""), Digest::EMPTY);
    }

    #[test]
    fn what_is_no_digest_is_refused() {
        let hex = Digest::EMPTY.hex();
        assert!(Digest::new(&hex, -1).is_err());
        for text in [
            "",
            "abc",
            "../../../../etc/passwd",
            &format!("../{}", &hex[3..]),
            &hex[1..],
            &format!("{hex}0"),
            &hex.to_uppercase(),
        ] {
            assert!(Digest::new(text, 0).is_err(), "{text}");
        }
    }
}
