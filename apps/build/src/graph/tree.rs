//! The inputs of a job as `Directory` messages.

use std::collections::BTreeMap;

use bytes::Bytes;
use prost::Message;

use super::job::JobError;
use crate::digest::Digest;
use crate::reapi::{Directory, DirectoryNode, FileNode, SymlinkNode, Tree};
use crate::storage::Blobs;

/// A node of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    File {
        blob: Digest,
        executable: bool,
    },
    Link(String),
    /// A folder whose `Directory` is in the storage.
    Stored(Digest),
    Folder(Folder),
}

/// A folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Folder {
    nodes: BTreeMap<String, Node>,
}

impl Folder {
    /// Adds a node at a path. If there is one already, it must be equal.
    pub(super) fn add(&mut self, path: &str, node: Node) -> Result<(), JobError> {
        let taken = || JobError::Unusable(format!("two inputs are at {path:?}"));
        let mut folder = self;
        let mut rest = path;
        while let Some((name, below)) = rest.split_once('/') {
            let next = folder.nodes.entry(name.to_owned());
            let Node::Folder(next) = next.or_insert_with(|| Node::Folder(Self::default())) else {
                return Err(taken());
            };
            (folder, rest) = (next, below);
        }
        match folder.nodes.insert(rest.to_owned(), node.clone()) {
            Some(other) if other != node => Err(taken()),
            _ => Ok(()),
        }
    }

    /// Computes the digest of its `Directory`; adds the messages.
    pub(super) fn encode(&self, messages: &mut Vec<(Digest, Bytes)>) -> Digest {
        let mut directory = Directory::default();
        for (name, node) in &self.nodes {
            let name = name.clone();
            let mut add = |digest: Digest| {
                let digest = Some(digest.into());
                directory.directories.push(DirectoryNode {
                    name: name.clone(),
                    digest,
                });
            };
            match node {
                Node::Stored(digest) => add(*digest),
                Node::Folder(folder) => add(folder.encode(messages)),
                Node::File { blob, executable } => directory.files.push(FileNode {
                    name,
                    digest: Some((*blob).into()),
                    is_executable: *executable,
                    node_properties: None,
                }),
                Node::Link(target) => directory.symlinks.push(SymlinkNode {
                    name,
                    target: target.clone(),
                    node_properties: None,
                }),
            }
        }
        let bytes = Bytes::from(directory.encode_to_vec());
        let digest = Digest::of(&bytes);
        messages.push((digest, bytes));
        digest
    }
}

/// Stores a blob if it is not there.
pub(super) async fn store(blobs: &Blobs, digest: Digest, bytes: Bytes) -> Result<(), JobError> {
    if !blobs.contains(digest).await? {
        blobs.write(digest, bytes).await?;
    }
    Ok(())
}

/// Stores the folders of a `Tree` that an action has made; returns the digest of the root.
pub(super) async fn unpack(blobs: &Blobs, tree: &Tree) -> Result<Digest, JobError> {
    for child in &tree.children {
        let bytes = Bytes::from(child.encode_to_vec());
        store(blobs, Digest::of(&bytes), bytes).await?;
    }
    let root = Bytes::from(tree.root.clone().unwrap_or_default().encode_to_vec());
    let digest = Digest::of(&root);
    store(blobs, digest, root).await?;
    Ok(digest)
}
