//! The inputs of an action: a tree of `Directory` messages, checked and laid out as paths.

use std::collections::{HashMap, HashSet};

use futures_util::future::FutureExt;
use futures_util::stream::{self, StreamExt, TryStreamExt};

use super::access::{Access, read_message};
use super::error::RunError;
use super::names::{check_link, check_name, check_path};
use super::runner::Limits;
use crate::digest::Digest;
use crate::reapi::{Directory, NodeProperties};

/// The number of blobs that are requested at a time.
pub(super) const AT_A_TIME: usize = 16;

/// The content of an action's folder when it begins: paths relative to the folder, each folder
/// before what is in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Inputs {
    pub(super) folders: Vec<String>,
    pub(super) files: Vec<File>,
    pub(super) links: Vec<Link>,
    bytes: u64,
}

/// A file of the inputs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) blob: Digest,
    pub(super) executable: bool,
}

/// A symbolic link of the inputs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) path: String,
    pub(super) target: String,
}

impl Inputs {
    /// Reads the tree with this root, level by level, each message once.
    pub(super) async fn read(
        root: Digest,
        access: &impl Access,
        limits: &Limits,
    ) -> Result<Self, RunError> {
        let mut inputs = Self::default();
        let mut messages = HashMap::new();
        let mut level = vec![(String::new(), root)];
        while !level.is_empty() {
            let known: HashSet<_> = messages.keys().copied().collect();
            let wanted: HashSet<_> = level.iter().map(|(_, digest)| *digest).collect();
            let unread: Vec<_> = wanted.difference(&known).copied().collect();
            let read = unread
                .into_iter()
                .map(|digest| read(digest, access).boxed());
            let read = stream::iter(read).buffer_unordered(AT_A_TIME);
            messages.extend(read.try_collect::<Vec<_>>().await?);
            let mut next = Vec::new();
            for (path, digest) in level {
                let below = inputs.add(&path, &messages[&digest], limits)?;
                next.extend(below);
            }
            level = next;
        }
        Ok(inputs)
    }

    /// Adds the nodes directly in a folder; returns the folders among them.
    fn add(
        &mut self,
        folder: &str,
        directory: &Directory,
        limits: &Limits,
    ) -> Result<Vec<(String, Digest)>, RunError> {
        let join = |name: &str| {
            let path = if folder.is_empty() {
                name.to_owned()
            } else {
                format!("{folder}/{name}")
            };
            check_path(&path).map(|()| path).map_err(RunError::Refused)
        };
        let mut below = Vec::new();
        for node in &directory.directories {
            let path = join(&node.name)?;
            self.folders.push(path.clone());
            below.push((path, Digest::of_field(node.digest.as_ref(), "a Directory")?));
        }
        for node in &directory.files {
            let file = File {
                path: join(&node.name)?,
                blob: Digest::of_field(node.digest.as_ref(), "a file")?,
                executable: node.is_executable,
            };
            self.bytes = self.bytes.saturating_add(file.blob.size());
            self.files.push(file);
        }
        for node in &directory.symlinks {
            let path = join(&node.name)?;
            check_link(&path, &node.target).map_err(RunError::Refused)?;
            self.links.push(Link {
                path,
                target: node.target.clone(),
            });
        }
        let nodes = self.folders.len() + self.files.len() + self.links.len();
        if nodes > limits.input_nodes {
            let most = limits.input_nodes;
            return Err(RunError::Refused(format!("it has more than {most} inputs")));
        }
        if self.bytes > limits.input_bytes {
            let most = limits.input_bytes;
            let why = format!("its inputs have more than {most} bytes");
            return Err(RunError::Refused(why));
        }
        Ok(below)
    }
}

async fn read(digest: Digest, access: &impl Access) -> Result<(Digest, Directory), RunError> {
    let directory = read_message(digest, "Directory", access).await?;
    match check(&directory) {
        Ok(()) => Ok((digest, directory)),
        Err(why) => Err(RunError::Refused(format!(
            "in the Directory {digest}: {why}"
        ))),
    }
}

/// Refuses invalid, unsorted or repeated names, and properties.
fn check(directory: &Directory) -> Result<(), String> {
    let files = directory.files.iter();
    let folders = directory.directories.iter();
    let links = directory.symlinks.iter();
    let mut properties = files.clone().map(|node| &node.node_properties);
    let mut link_properties = links.clone().map(|node| &node.node_properties);
    let is_some = |properties: &Option<NodeProperties>| {
        properties
            .as_ref()
            .is_some_and(|properties| *properties != NodeProperties::default())
    };
    if is_some(&directory.node_properties)
        || properties.any(is_some)
        || link_properties.any(is_some)
    {
        return Err("node properties are not supported".to_owned());
    }
    let mut all = HashSet::new();
    for names in [
        files.map(|node| node.name.as_str()).collect::<Vec<_>>(),
        folders.map(|node| node.name.as_str()).collect(),
        links.map(|node| node.name.as_str()).collect(),
    ] {
        for name in &names {
            check_name(name)?;
            if !all.insert(*name) {
                return Err(format!("there are two nodes {name:?}"));
            }
        }
        if let Some(pair) = names.windows(2).find(|pair| pair[0] > pair[1]) {
            return Err(format!(
                "{:?} stands before {:?}: they are not sorted",
                pair[0], pair[1]
            ));
        }
    }
    Ok(())
}
