//! The results of actions.

use std::collections::BTreeSet;

use bytes::{BufMut as _, Bytes, BytesMut};
use prost::Message;
use thiserror::Error;

use super::blobs::Blobs;
use super::name::Name;
use super::store::StorageError;
use crate::digest::{Digest, NotADigest};
use crate::reapi::{ActionResult, Directory, FileNode, Tree};

/// The most bytes of a result: gRPC's usual limit of a message, which clients have.
pub const MAX_RESULT: usize = 4 << 20;

/// The results of actions, each under the action's hash. Clones are handles of the same storage.
#[derive(Debug, Clone)]
pub struct Results {
    blobs: Blobs,
}

impl Results {
    pub(super) fn new(blobs: Blobs) -> Self {
        Self { blobs }
    }

    /// Returns the result of that action if all its blobs are there; they count as used.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn get(&self, action: &[u8; 32]) -> Result<Option<StoredResult>, StorageError> {
        let found = self.look_up(action).await?;
        let counter = match found {
            Some(_) => &self.blobs.store.counters.result_hits,
            None => &self.blobs.store.counters.result_misses,
        };
        counter.inc();
        Ok(found)
    }

    /// Stores the result of an action, in place of any earlier one.
    ///
    /// # Errors
    /// If it is larger than the answers that clients take, or if the storage fails.
    pub async fn put(&self, action: &[u8; 32], result: StoredResult) -> Result<(), StorageError> {
        let bytes = result.bytes;
        if bytes.len() > MAX_RESULT {
            let limit = MAX_RESULT as u64;
            return Err(StorageError::TooLarge { limit });
        }
        let mut entry = BytesMut::with_capacity(32 + bytes.len());
        entry.put_slice(Digest::of(&bytes).hash());
        entry.put(bytes);
        self.blobs
            .store
            .write(Name::result(action), entry.freeze())
            .await
    }

    async fn look_up(&self, action: &[u8; 32]) -> Result<Option<StoredResult>, StorageError> {
        let Some(mut entry) = self.blobs.store.read(Name::result(action)).await? else {
            return Ok(None);
        };
        let bytes = if entry.len() < 32 {
            Bytes::new()
        } else {
            entry.split_off(32)
        };
        if bytes.len() > MAX_RESULT {
            return Ok(None);
        }
        let right = entry[..] == Digest::of(&bytes).hash()[..];
        let result = StoredResult::new(bytes).ok().filter(|_| right);
        let Some(result) = result else {
            tracing::error!(
                action = crate::digest::hex(action),
                "a stored result has other bytes"
            );
            self.blobs.store.counters.corrupt.inc();
            self.blobs.store.remove(Name::result(action)).await?;
            return Ok(None);
        };
        let complete = self.is_complete(&result).await?;
        Ok(complete.then_some(result))
    }

    /// Returns true if all blobs of the result are there; they count as used.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn is_complete(&self, result: &StoredResult) -> Result<bool, StorageError> {
        let blobs = self.blobs.missing(result.blobs.iter().copied()).await?;
        if !blobs.is_empty() {
            return Ok(false);
        }
        for tree in &result.trees {
            let Some(tree) = self.message::<Tree>(*tree).await? else {
                return Ok(false);
            };
            let folders = tree.children.iter().chain(&tree.root);
            if !self.has_files(folders).await? {
                return Ok(false);
            }
        }
        let mut seen = result.roots.clone();
        let mut todo: Vec<_> = seen.iter().copied().collect();
        while let Some(folder) = todo.pop() {
            let Some(folder) = self.message::<Directory>(folder).await? else {
                return Ok(false);
            };
            if !self.has_files([&folder]).await? {
                return Ok(false);
            }
            for below in &folder.directories {
                let Some(Ok(below)) = below.digest.as_ref().map(Digest::try_from) else {
                    return Ok(false);
                };
                if seen.insert(below) {
                    todo.push(below);
                }
            }
        }
        Ok(true)
    }

    /// Reads a blob that is a message; none if it is missing, or no such message.
    async fn message<M: Message + Default>(&self, blob: Digest) -> Result<Option<M>, StorageError> {
        match self.blobs.read(blob).await {
            Ok(bytes) => Ok(M::decode(bytes).ok()),
            Err(StorageError::Missing(_) | StorageError::Corrupt { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns true if all files directly in the folders are there.
    async fn has_files(
        &self,
        folders: impl IntoIterator<Item = &Directory>,
    ) -> Result<bool, StorageError> {
        let files = folders.into_iter().flat_map(|folder| &folder.files);
        let digest = |file: &FileNode| Digest::try_from(file.digest.as_ref()?).ok();
        let Some(files) = files.map(digest).collect::<Option<BTreeSet<_>>>() else {
            return Ok(false);
        };
        Ok(self.blobs.missing(files).await?.is_empty())
    }
}

/// A result as it was sent, and the blobs that it names.
#[derive(Debug, Clone)]
pub struct StoredResult {
    bytes: Bytes,
    message: ActionResult,
    blobs: BTreeSet<Digest>,
    trees: BTreeSet<Digest>,
    /// Root folders that are blobs themselves, as are all folders below them.
    roots: BTreeSet<Digest>,
}

impl StoredResult {
    /// Decodes an `ActionResult`.
    ///
    /// # Errors
    /// If it is not one, or has an invalid digest or path.
    pub fn new(bytes: Bytes) -> Result<Self, NotAResult> {
        let message = ActionResult::decode(bytes.clone())
            .map_err(|error| NotAResult(format!("not an ActionResult: {error}")))?;
        let mut blobs = BTreeSet::new();
        let mut trees = BTreeSet::new();
        let mut roots = BTreeSet::new();
        for file in &message.output_files {
            check_path(&file.path)?;
            blobs.insert(digest(file.digest.as_ref(), &file.path)?);
        }
        for folder in &message.output_directories {
            check_path(&folder.path)?;
            // A client may name the root folder instead of the tree, or both.
            let tree = folder.tree_digest.as_ref();
            if tree.is_some() || folder.root_directory_digest.is_none() {
                trees.insert(digest(tree, &folder.path)?);
            }
            if let Some(root) = &folder.root_directory_digest {
                roots.insert(digest(Some(root), &folder.path)?);
            }
        }
        // The fields that clients of older versions use.
        #[expect(deprecated)]
        let links = [
            &message.output_file_symlinks,
            &message.output_directory_symlinks,
        ];
        for link in links.into_iter().flatten().chain(&message.output_symlinks) {
            check_path(&link.path)?;
        }
        for (output, name) in [
            (&message.stdout_digest, "stdout"),
            (&message.stderr_digest, "stderr"),
        ] {
            if output.is_some() {
                blobs.insert(digest(output.as_ref(), name)?);
            }
        }
        Ok(Self {
            bytes,
            message,
            blobs,
            trees,
            roots,
        })
    }

    /// The message.
    pub const fn message(&self) -> &ActionResult {
        &self.message
    }

    /// The message, encoded as it was sent.
    pub const fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The message.
    pub fn into_message(self) -> ActionResult {
        self.message
    }
}

impl TryFrom<&ActionResult> for StoredResult {
    type Error = NotAResult;

    fn try_from(message: &ActionResult) -> Result<Self, NotAResult> {
        Self::new(message.encode_to_vec().into())
    }
}

fn digest(digest: Option<&crate::reapi::Digest>, of: &str) -> Result<Digest, NotADigest> {
    Digest::of_field(digest, format_args!("the output {of:?}"))
}

/// Refuses a path that leads out of the folder, as clients write outputs to it.
fn check_path(path: &str) -> Result<(), NotAResult> {
    let leads_out = path.starts_with('/') || path.split('/').any(|name| name == "..");
    if leads_out || path.contains('\0') {
        return Err(NotAResult(format!(
            "the output path {path:?} leads out of the folder"
        )));
    }
    Ok(())
}

/// The error for bytes that are not an action's result, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct NotAResult(String);

impl From<NotADigest> for NotAResult {
    fn from(error: NotADigest) -> Self {
        Self(error.to_string())
    }
}
