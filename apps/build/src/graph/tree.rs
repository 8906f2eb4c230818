//! Files and folders, as outputs of a job and inputs of another: `Directory` and `Tree` messages.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use prost::Message;

use super::job::JobError;
use crate::digest::Digest;
use crate::reapi::{Directory, DirectoryNode, FileNode, SymlinkNode, Tree};
use crate::worker::check_name;

/// A node of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    File { blob: Digest, executable: bool },
    Link(String),
    Folder(Arc<Folder>),
}

/// A folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Folder {
    pub(super) nodes: BTreeMap<String, Node>,
}

impl Folder {
    /// Adds a node at a path. If there is one already, it must be equal.
    pub(super) fn add(&mut self, path: &str, node: Node) -> Result<(), JobError> {
        let taken = || JobError::Unusable(format!("two inputs are at {path:?}"));
        let mut folder = self;
        let mut rest = path;
        while let Some((name, below)) = rest.split_once('/') {
            let next = folder.nodes.entry(name.to_owned());
            let Node::Folder(next) = next.or_insert_with(|| Node::Folder(Arc::default())) else {
                return Err(taken());
            };
            (folder, rest) = (Arc::make_mut(next), below);
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
            match node {
                Node::Folder(folder) => {
                    let digest = Some(folder.encode(messages).into());
                    directory.directories.push(DirectoryNode { name, digest });
                }
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

    /// Builds the folder that a `Tree` describes.
    pub(super) fn of(tree: &Tree) -> Result<Self, JobError> {
        let digest_of = |folder| (Digest::of(&Directory::encode_to_vec(folder)), folder);
        let children = tree.children.iter().map(digest_of).collect();
        Self::unfold(&tree.root.clone().unwrap_or_default(), &children)
    }

    fn unfold(
        folder: &Directory,
        children: &HashMap<Digest, &Directory>,
    ) -> Result<Self, JobError> {
        let mut nodes = BTreeMap::new();
        for file in &folder.files {
            let blob = Digest::of_field(file.digest.as_ref(), "an output")?;
            let executable = file.is_executable;
            nodes.insert(file.name.clone(), Node::File { blob, executable });
        }
        for link in &folder.symlinks {
            nodes.insert(link.name.clone(), Node::Link(link.target.clone()));
        }
        for below in &folder.directories {
            let digest = Digest::of_field(below.digest.as_ref(), "an output")?;
            let missing = || JobError::Unusable(format!("the folder {:?} is missing", below.name));
            let child = children.get(&digest).ok_or_else(missing)?;
            let child = Arc::new(Self::unfold(child, children)?);
            nodes.insert(below.name.clone(), Node::Folder(child));
        }
        for name in nodes.keys() {
            check_name(name).map_err(JobError::Unusable)?;
        }
        Ok(Self { nodes })
    }
}
