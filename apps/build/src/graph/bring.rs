//! Copies the outputs of jobs into the folder of the project.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::{BoxFuture, FutureExt};
use prost::Message;
use tokio::task;

use super::job::{CACHE, JobError};
use super::tree::{Node, unpack};
use crate::digest::Digest;
use crate::reapi::{ActionResult, Directory, Tree};
use crate::storage::Blobs;
use crate::worker::{check_link, check_name};

/// An output, in memory.
#[derive(Debug)]
enum Item {
    File { blob: Digest, executable: bool },
    Link(String),
    Folder(Vec<(String, Item)>),
}

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
        let mut items = HashMap::new();
        for file in &result.output_files {
            let (blob, executable) = (digest(file.digest.as_ref())?, file.is_executable);
            let node = Node::File { blob, executable };
            items.insert(file.path.as_str(), (Item::File { blob, executable }, node));
        }
        for link in &result.output_symlinks {
            check_link(&link.path, &link.target).map_err(JobError::Unusable)?;
            let target = link.target.clone();
            items.insert(&link.path, (Item::Link(target.clone()), Node::Link(target)));
        }
        for folder in &result.output_directories {
            let tree = blobs.read(digest(folder.tree_digest.as_ref())?).await?;
            let tree = Tree::decode(tree).map_err(|error| {
                JobError::Unusable(format!(
                    "the output {:?} is not a Tree: {error}",
                    folder.path
                ))
            })?;
            let stored = Node::Stored(unpack(blobs, &tree).await?);
            items.insert(&folder.path, (folder_of(&tree)?, stored));
        }
        let mut nodes = Vec::new();
        for output in outputs {
            let missing = || JobError::NoOutput(output.clone());
            let (item, node) = items.remove(output.as_str()).ok_or_else(missing)?;
            self.place(output, item, blobs).await?;
            nodes.push((output.clone(), node));
        }
        Ok(nodes)
    }

    async fn place(&self, path: &str, item: Item, blobs: &Blobs) -> Result<(), JobError> {
        let full = self.project.join(path);
        let file = |error| JobError::File {
            path: path.to_owned(),
            error,
        };
        let project = self.project.clone();
        let item = blocking(move || {
            let is_there = is_there(&full, &item);
            if !is_there {
                let parent = full.parent().unwrap_or(&project);
                let mut above = parent.ancestors();
                let there = above.find(|path| fs::symlink_metadata(path).is_ok());
                if !fs::canonicalize(there.unwrap_or(&project))?.starts_with(&project) {
                    return Err(io::Error::other("a link on the way leaves the project"));
                }
                fs::create_dir_all(parent)?;
            }
            Ok((!is_there).then_some(item))
        });
        let Some(item) = item.await.map_err(file)? else {
            return Ok(());
        };
        // ORDERING: Relaxed; only the number matters.
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let new = self.work.join(number.to_string());
        let old = self.work.join(format!("{number}.old"));
        write(new.clone(), item, blobs).await?;
        let full = self.project.join(path);
        let replace = move || {
            // A rename replaces a file by a file at once; a folder must be moved away first.
            if fs::symlink_metadata(&full).is_ok_and(|found| found.is_dir())
                || fs::symlink_metadata(&new).is_ok_and(|found| found.is_dir())
            {
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

fn digest(digest: Option<&crate::reapi::Digest>) -> Result<Digest, JobError> {
    let digest = digest.map(Digest::try_from).and_then(Result::ok);
    digest.ok_or_else(|| JobError::Unusable("an output has no digest".to_owned()))
}

/// Returns true if exactly that is at the path.
fn is_there(path: &Path, item: &Item) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else {
        return false;
    };
    match item {
        Item::File { blob, executable } => {
            found.is_file()
                && found.len() == blob.size()
                && (found.permissions().mode() & 0o100 != 0) == *executable
                && fs::read(path).is_ok_and(|bytes| Digest::of(&bytes) == *blob)
        }
        Item::Link(target) => fs::read_link(path).is_ok_and(|found| found == Path::new(target)),
        Item::Folder(items) => {
            let names: BTreeSet<_> = items.iter().map(|(name, _)| name.into()).collect();
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            found.is_dir()
                && names == entries.map(|entry| entry.file_name()).collect()
                && items
                    .iter()
                    .all(|(name, item)| is_there(&path.join(name), item))
        }
    }
}

/// Makes the item at the path, where nothing is yet.
fn write(path: PathBuf, item: Item, blobs: &Blobs) -> BoxFuture<'_, Result<(), JobError>> {
    async move {
        let file = |error| JobError::File {
            path: path.display().to_string(),
            error,
        };
        let to = path.clone();
        match item {
            Item::File { blob, executable } => {
                let bytes = blobs.read(blob).await?;
                let mode = if executable { 0o755 } else { 0o644 };
                let write = move || {
                    fs::write(&to, bytes)?;
                    fs::set_permissions(&to, PermissionsExt::from_mode(mode))
                };
                blocking(write).await.map_err(file)
            }
            Item::Link(target) => symlink(target, &path).map_err(file),
            Item::Folder(items) => {
                fs::create_dir(&path).map_err(file)?;
                for (name, item) in items {
                    write(path.join(name), item, blobs).await?;
                }
                Ok(())
            }
        }
    }
    .boxed()
}

/// Builds the folder that a `Tree` describes.
fn folder_of(tree: &Tree) -> Result<Item, JobError> {
    let digest_of = |folder: &Directory| (Digest::of(&folder.encode_to_vec()), folder.clone());
    let children: HashMap<_, _> = tree.children.iter().map(digest_of).collect();
    let root = tree.root.clone().unwrap_or_default();
    unfold(&root, &children)
}

fn unfold(folder: &Directory, children: &HashMap<Digest, Directory>) -> Result<Item, JobError> {
    let mut items = Vec::new();
    for file in &folder.files {
        let (blob, executable) = (digest(file.digest.as_ref())?, file.is_executable);
        items.push((file.name.clone(), Item::File { blob, executable }));
    }
    for link in &folder.symlinks {
        items.push((link.name.clone(), Item::Link(link.target.clone())));
    }
    for below in &folder.directories {
        let child = children.get(&digest(below.digest.as_ref())?);
        let missing = || JobError::Unusable(format!("the folder {:?} is missing", below.name));
        items.push((
            below.name.clone(),
            unfold(child.ok_or_else(missing)?, children)?,
        ));
    }
    for (name, _) in &items {
        check_name(name).map_err(JobError::Unusable)?;
    }
    Ok(Item::Folder(items))
}
