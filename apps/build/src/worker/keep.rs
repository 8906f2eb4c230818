//! Keeps the outputs of an action as blobs, and names them in its result.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures_util::future::FutureExt;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use prost::Message;

use super::access::Access;
use super::command::{Command, Kind};
use super::error::RunError;
use super::inputs::AT_A_TIME;
use super::outputs::{File, Folder};
use crate::digest::Digest;
use crate::reapi::{
    ActionResult, Directory, DirectoryNode, FileNode, OutputDirectory, OutputFile, OutputSymlink,
    SymlinkNode, Tree,
};
use crate::storage::StorageError;

/// The most bytes of a stream that are put into the result itself.
const INLINE: usize = 4096;

/// Keeps the outputs.
pub(super) async fn outputs(
    outputs: &Folder,
    command: &Command,
    access: &impl Access,
    result: &mut ActionResult,
) -> Result<(), RunError> {
    let mut blobs = files(outputs, access).await?.into();
    for (path, file) in &outputs.files {
        result.output_files.push(OutputFile {
            path: path.clone(),
            digest: Some(next(&mut blobs).into()),
            is_executable: file.executable,
            ..OutputFile::default()
        });
    }
    for (path, folder) in &outputs.folders {
        let mut children = Children::default();
        let root = children.directory(folder, &mut blobs);
        let mut kept = OutputDirectory {
            path: path.clone(),
            ..OutputDirectory::default()
        };
        if command.wants_directories {
            for bytes in children.encoded {
                access.write(bytes).await?;
            }
            let root = access.write(root.encode_to_vec().into()).await?;
            kept.root_directory_digest = Some(root.into());
        }
        let tree = Tree {
            root: Some(root),
            children: children.messages,
        };
        kept.tree_digest = Some(access.write(tree.encode_to_vec().into()).await?.into());
        result.output_directories.push(kept);
    }
    links(outputs, command, result);
    Ok(())
}

#[expect(deprecated, reason = "clients of version 2.0 read these fields")]
fn links(outputs: &Folder, command: &Command, result: &mut ActionResult) {
    for (path, target) in &outputs.links {
        let kept = OutputSymlink {
            path: path.clone(),
            target: target.clone(),
            node_properties: None,
        };
        let wanted = command.outputs.iter().find(|output| output.path == *path);
        match wanted.map(|output| output.kind) {
            Some(Kind::File) => result.output_file_symlinks.push(kept),
            Some(Kind::Folder) => result.output_directory_symlinks.push(kept),
            _ => result.output_symlinks.push(kept),
        }
    }
}

/// Keeps what a process wrote: in the result if it is short.
pub(super) async fn stream(
    bytes: Vec<u8>,
    access: &impl Access,
) -> Result<(Vec<u8>, Option<Digest>), RunError> {
    if bytes.len() <= INLINE {
        return Ok((bytes, None));
    }
    Ok((Vec::new(), Some(access.write(bytes.into()).await?)))
}

/// Keeps all files; returns their digests in the order in which the messages name them.
async fn files(outputs: &Folder, access: &impl Access) -> Result<Vec<Digest>, RunError> {
    let mut paths = Vec::new();
    add(outputs, &mut paths);
    let kept = paths.into_iter().map(|path| {
        async move { access.keep(&path).await.map_err(|error| lost(&path, error)) }.boxed()
    });
    stream::iter(kept).buffered(AT_A_TIME).try_collect().await
}

/// Makes the error for a file that could not be read: the action may have denied access.
fn lost(path: &Path, error: StorageError) -> RunError {
    match error {
        StorageError::Disk(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let name = path.file_name().unwrap_or_default();
            RunError::Output(format!("{name:?} cannot be read: {error}"))
        }
        error => error.into(),
    }
}

fn add(folder: &Folder, paths: &mut Vec<PathBuf>) {
    paths.extend(folder.files.iter().map(|(_, file)| file.path.clone()));
    for (_, below) in &folder.folders {
        add(below, paths);
    }
}

fn next(blobs: &mut VecDeque<Digest>) -> Digest {
    blobs
        .pop_front()
        .expect("each file was kept, in this order")
}

/// The messages of the folders below one, each once.
#[derive(Default)]
struct Children {
    known: HashSet<Digest>,
    messages: Vec<Directory>,
    encoded: Vec<Bytes>,
}

impl Children {
    fn directory(&mut self, folder: &Folder, blobs: &mut VecDeque<Digest>) -> Directory {
        let file = |(name, file): &(String, File)| FileNode {
            name: name.clone(),
            digest: Some(next(blobs).into()),
            is_executable: file.executable,
            node_properties: None,
        };
        let link = |(name, target): &(String, String)| SymlinkNode {
            name: name.clone(),
            target: target.clone(),
            node_properties: None,
        };
        let mut directory = Directory {
            files: folder.files.iter().map(file).collect(),
            symlinks: folder.links.iter().map(link).collect(),
            ..Directory::default()
        };
        for (name, below) in &folder.folders {
            let child = self.directory(below, blobs);
            let bytes = Bytes::from(child.encode_to_vec());
            let digest = Digest::of(&bytes);
            if self.known.insert(digest) {
                self.messages.push(child);
                self.encoded.push(bytes);
            }
            directory.directories.push(DirectoryNode {
                name: name.clone(),
                digest: Some(digest.into()),
            });
        }
        directory
    }
}
