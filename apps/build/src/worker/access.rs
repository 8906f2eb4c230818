//! The access of a runner to blobs, and to the messages among them.

use std::future::Future;
use std::io;
use std::path::Path;

use bytes::{Bytes, BytesMut};
use prost::Message;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use super::error::RunError;
use crate::digest::{Digest, Hasher};
use crate::storage::{Blobs, NewFile, StorageError};

/// The bytes of a file that are in memory at a time.
const PIECE: usize = 1 << 20;

/// The access of a runner to blobs: it reads an action's inputs, and keeps its outputs.
pub trait Access: Send + Sync {
    /// Reads a whole blob, checked: a message.
    fn read(&self, blob: Digest) -> impl Future<Output = Result<Bytes, StorageError>> + Send;

    /// Makes files of blobs. The action may write to its inputs, so a file may share something with
    /// the original only if such a write leaves that alone.
    fn place(&self, files: Vec<NewFile>) -> impl Future<Output = Result<(), StorageError>> + Send;

    /// Keeps the file as a blob. The caller removes the file later.
    fn keep(&self, path: &Path) -> impl Future<Output = Result<Digest, StorageError>> + Send;

    /// Keeps these bytes as a blob.
    fn write(&self, bytes: Bytes) -> impl Future<Output = Result<Digest, StorageError>> + Send;
}

impl Access for Blobs {
    async fn read(&self, blob: Digest) -> Result<Bytes, StorageError> {
        Self::read(self, blob).await
    }

    async fn place(&self, files: Vec<NewFile>) -> Result<(), StorageError> {
        match Self::place(self, files).await?.pop() {
            Some(lacking) => Err(StorageError::Missing(lacking.blob)),
            None => Ok(()),
        }
    }

    async fn keep(&self, path: &Path) -> Result<Digest, StorageError> {
        // The digest must be known before it is written, so a large file is read twice.
        let mut file = File::open(path).await?;
        if file.metadata().await?.len() <= PIECE as u64 {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).await?;
            return Access::write(self, bytes.into()).await;
        }
        let mut hasher = Hasher::new();
        while let Some(piece) = next_piece(&mut file).await? {
            hasher.update(&piece);
        }
        let digest = hasher.digest();
        if !self.contains(digest).await? {
            file.rewind().await?;
            let mut writer = self.writer(digest).await?;
            while let Some(piece) = next_piece(&mut file).await? {
                writer.write(piece).await?;
            }
            writer.finish().await?;
        }
        Ok(digest)
    }

    async fn write(&self, bytes: Bytes) -> Result<Digest, StorageError> {
        let digest = Digest::of(&bytes);
        Self::write(self, digest, bytes).await?;
        Ok(digest)
    }
}

/// Reads the next piece of a file; none at its end.
async fn next_piece(file: &mut File) -> io::Result<Option<Bytes>> {
    let mut piece = BytesMut::with_capacity(PIECE);
    let count = file.read_buf(&mut piece).await?;
    Ok((count > 0).then(|| piece.freeze()))
}

/// The most bytes of a message that a worker reads.
const MOST: u64 = 64 << 20;

/// Reads a message; errors call it `kind`.
pub(super) async fn read_message<M: Message + Default>(
    digest: Digest,
    kind: &str,
    access: &impl Access,
) -> Result<M, RunError> {
    if digest.size() > MOST {
        let why = format!("the {kind} {digest} has more than {MOST} bytes");
        return Err(RunError::Refused(why));
    }
    let bytes = access.read(digest).await?;
    M::decode(bytes)
        .map_err(|error| RunError::Refused(format!("the blob {digest} is not a {kind}: {error}")))
}
