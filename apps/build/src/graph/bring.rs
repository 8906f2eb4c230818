//! Copies the outputs of jobs into the folder of the project.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::{BoxFuture, FutureExt};
use prost::Message;
use tokio::task;

use super::job::{CACHE, JobError};
use super::tree::{Folder, Node};
use crate::digest::Digest;
use crate::reapi::{ActionResult, Tree};
use crate::storage::Blobs;
use crate::worker::check_link;

/// Copies outputs of jobs into the folder of the project. A file is replaced whole, or not at all.
#[derive(Debug)]
pub(super) struct Bringer {
    project: PathBuf,
    /// A folder in the cache, on the same disk.
    work: PathBuf,
    next: AtomicU64,
}

impl Bringer {
    /// Copies into this project, whose path has no symbolic links.
    pub(super) fn new(project: &Path) -> io::Result<Self> {
        let work = project.join(CACHE).join("new");
        match fs::remove_dir_all(&work) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::create_dir_all(&work)?,
        }
        Ok(Self {
            project: project.to_owned(),
            work,
            next: AtomicU64::new(0),
        })
    }

    /// Copies the outputs in the result of an action; returns them as inputs of other jobs.
    pub(super) async fn bring(
        &self,
        outputs: &[String],
        result: &ActionResult,
        blobs: &Blobs,
    ) -> Result<Vec<(String, Node)>, JobError> {
        let mut found = HashMap::new();
        for file in &result.output_files {
            let blob = Digest::of_field(file.digest.as_ref(), "an output")?;
            let executable = file.is_executable;
            found.insert(file.path.as_str(), Node::File { blob, executable });
        }
        for link in &result.output_symlinks {
            check_link(&link.path, &link.target).map_err(JobError::Unusable)?;
            found.insert(&link.path, Node::Link(link.target.clone()));
        }
        for folder in &result.output_directories {
            let tree = Digest::of_field(folder.tree_digest.as_ref(), "an output")?;
            let tree = Tree::decode(blobs.read(tree).await?).map_err(|error| {
                let path = &folder.path;
                JobError::Unusable(format!("the output {path:?} is not a Tree: {error}"))
            })?;
            found.insert(&folder.path, Node::Folder(Arc::new(Folder::of(&tree)?)));
        }
        let mut nodes = Vec::new();
        for output in outputs {
            let missing = || JobError::NoOutput(output.clone());
            let node = found.remove(output.as_str()).ok_or_else(missing)?;
            self.place(output, &node, blobs).await?;
            nodes.push((output.clone(), node));
        }
        Ok(nodes)
    }

    async fn place(&self, path: &str, node: &Node, blobs: &Blobs) -> Result<(), JobError> {
        let file = |error| JobError::File {
            path: path.to_owned(),
            error,
        };
        let (project, full, wanted) = (self.project.clone(), self.project.join(path), node.clone());
        let is_there = blocking(move || {
            if is_there(&full, &wanted) {
                return Ok(true);
            }
            let parent = full.parent().unwrap_or(&project);
            let mut above = parent.ancestors();
            let there = above.find(|path| fs::symlink_metadata(path).is_ok());
            if !fs::canonicalize(there.unwrap_or(&project))?.starts_with(&project) {
                return Err(io::Error::other("a link on the way leaves the project"));
            }
            fs::create_dir_all(parent)?;
            Ok(false)
        });
        if is_there.await.map_err(file)? {
            return Ok(());
        }
        // ORDERING: Relaxed; only the number matters.
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let new = self.work.join(number.to_string());
        let old = self.work.join(format!("{number}.old"));
        write(new.clone(), node, blobs).await?;
        let full = self.project.join(path);
        let replace = move || {
            // A rename replaces a file by a file at once; a folder must be moved away first.
            let is_folder = |path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
            if is_folder(&full) || is_folder(&new) {
                match fs::rename(&full, &old) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
            fs::rename(&new, &full)?;
            match fs::symlink_metadata(&old) {
                Ok(found) if found.is_dir() => fs::remove_dir_all(&old),
                Ok(_) => fs::remove_file(&old),
                Err(_) => Ok(()),
            }
        };
        blocking(replace).await.map_err(file)
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    task::spawn_blocking(work).await.map_err(io::Error::other)?
}

/// Returns true if exactly that is at the path.
fn is_there(path: &Path, node: &Node) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else {
        return false;
    };
    match node {
        Node::File { blob, executable } => {
            found.is_file()
                && found.len() == blob.size()
                && (found.permissions().mode() & 0o100 != 0) == *executable
                && fs::read(path).is_ok_and(|bytes| Digest::of(&bytes) == *blob)
        }
        Node::Link(target) => fs::read_link(path).is_ok_and(|found| found == Path::new(target)),
        Node::Folder(folder) => {
            let entries = fs::read_dir(path).into_iter().flatten();
            found.is_dir()
                && entries.count() == folder.nodes.len()
                && folder
                    .nodes
                    .iter()
                    .all(|(name, node)| is_there(&path.join(name), node))
        }
    }
}

/// Makes the node at the path, where nothing is yet.
fn write<'a>(
    path: PathBuf,
    node: &'a Node,
    blobs: &'a Blobs,
) -> BoxFuture<'a, Result<(), JobError>> {
    async move {
        let file = |error| JobError::File {
            path: path.display().to_string(),
            error,
        };
        match node {
            Node::File { blob, executable } => {
                let bytes = blobs.read(*blob).await?;
                let mode = if *executable { 0o755 } else { 0o644 };
                let to = path.clone();
                let write = move || {
                    fs::write(&to, bytes)?;
                    fs::set_permissions(&to, PermissionsExt::from_mode(mode))
                };
                blocking(write).await.map_err(file)
            }
            Node::Link(target) => symlink(target, &path).map_err(file),
            Node::Folder(folder) => {
                fs::create_dir(&path).map_err(file)?;
                for (name, node) in &folder.nodes {
                    write(path.join(name), node, blobs).await?;
                }
                Ok(())
            }
        }
    }
    .boxed()
}
