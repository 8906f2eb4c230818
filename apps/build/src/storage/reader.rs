//! Reads a blob one piece after another.

use std::fs::File;
use std::io::Read as _;

use bytes::Bytes;
use futures_util::StreamExt as _;
use opendal::BufferStream;
use tokio::task::{JoinHandle, spawn_blocking};

use super::store::{StorageError, Store};
use crate::digest::{Digest, Hasher};

/// The bytes that are read at once, and sent in one message of gRPC: Bazel is much slower with
/// larger ones. While one piece is sent, the next is read.
pub(super) const PIECE: usize = 256 << 10;

/// Reads a blob, or a part of one, one piece after another.
///
/// The whole blob is read and checked, even if only a part was asked for. The last piece comes
/// after the check: a read that ends without an error is right.
#[derive(Debug)]
pub struct Reader {
    origin: Origin,
    source: Source,
    hasher: Hasher,
    /// The bytes of the blob that were read so far.
    position: u64,
    /// The range of the blob that was asked for.
    from: u64,
    to: u64,
    /// A piece that was read and not yet returned: it may be the last one.
    held: Option<Bytes>,
}

/// The blob, and its storage.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) store: Store,
    pub(super) digest: Digest,
}

pub(super) enum Source {
    /// The whole blob, checked.
    Whole(Option<Bytes>),
    /// A thread reads ahead, and computes the hash.
    Disk(Option<JoinHandle<std::io::Result<Piece>>>),
    Shared(BufferStream),
}

pub(super) struct Piece {
    file: File,
    hasher: Hasher,
    bytes: Bytes,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").finish_non_exhaustive()
    }
}

impl Source {
    pub(super) fn disk(file: File) -> Self {
        Self::Disk(Some(read_ahead(file, Hasher::new())))
    }
}

fn read_ahead(mut file: File, mut hasher: Hasher) -> JoinHandle<std::io::Result<Piece>> {
    spawn_blocking(move || {
        let mut bytes = Vec::with_capacity(PIECE);
        file.by_ref().take(PIECE as u64).read_to_end(&mut bytes)?;
        hasher.update(&bytes);
        Ok(Piece {
            file,
            hasher,
            bytes: bytes.into(),
        })
    })
}

impl Reader {
    pub(super) fn new(origin: Origin, source: Source, from: u64, to: u64) -> Self {
        let size = origin.digest.size();
        Self {
            origin,
            source,
            hasher: Hasher::new(),
            position: 0,
            from: from.min(size),
            to: to.min(size),
            held: None,
        }
    }

    /// Returns how many bytes will come in all.
    pub const fn size(&self) -> u64 {
        self.to.saturating_sub(self.from)
    }

    /// Returns the next piece, or none at the end.
    ///
    /// # Errors
    /// If the bytes are not the blob's, which then is removed, or if the storage fails.
    pub async fn next(&mut self) -> Result<Option<Bytes>, StorageError> {
        loop {
            let Some(piece) = self.read().await? else {
                return Ok(self.held.take());
            };
            let Some(piece) = self.wanted(piece) else {
                continue;
            };
            if let Some(held) = self.held.replace(piece) {
                return Ok(Some(held));
            }
        }
    }

    /// Reads the next piece of the blob; none at its end, if the bytes are the blob's.
    async fn read(&mut self) -> Result<Option<Bytes>, StorageError> {
        let piece = match &mut self.source {
            Source::Whole(bytes) => return Ok(bytes.take()),
            Source::Disk(ahead) => {
                let Some(thread) = ahead.take() else {
                    return Ok(None);
                };
                let piece = thread.await.map_err(std::io::Error::other)??;
                if piece.bytes.is_empty() {
                    self.hasher = piece.hasher;
                    None
                } else {
                    *ahead = Some(read_ahead(piece.file, piece.hasher));
                    Some(piece.bytes)
                }
            }
            Source::Shared(stream) => match stream.next().await.transpose()? {
                Some(buffer) => {
                    let bytes = buffer.to_bytes();
                    self.hasher.update(&bytes);
                    Some(bytes)
                }
                None => None,
            },
        };
        if piece.is_none() {
            let found = std::mem::take(&mut self.hasher).digest();
            self.source = Source::Whole(None);
            let Origin { store, digest } = &self.origin;
            store.check(*digest, found).await?;
        }
        Ok(piece)
    }

    /// Cuts from the next piece of the blob what was asked for.
    fn wanted(&mut self, piece: Bytes) -> Option<Bytes> {
        let start = self.position;
        let size = piece.len() as u64;
        self.position += size;
        let within = |at: u64| usize::try_from(at.clamp(start, start + size) - start);
        let (from, to) = (within(self.from).ok()?, within(self.to).ok()?);
        (from < to).then(|| piece.slice(from..to))
    }
}
