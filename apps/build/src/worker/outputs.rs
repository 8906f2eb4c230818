//! The outputs of an action.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::command::{Command, Kind, Output};
use super::error::RunError;
use super::names::{check_link, check_name};
use super::runner::Limits;

/// The most levels of folders in each other: the search for outputs is recursive.
const MOST_LEVELS: usize = 256;

/// A file.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) executable: bool,
}

/// A folder, with its nodes sorted by name; or the outputs that an action has made, by their paths.
#[derive(Debug, Default)]
pub(super) struct Folder {
    pub(super) files: Vec<(String, File)>,
    pub(super) folders: Vec<(String, Self)>,
    pub(super) links: Vec<(String, String)>,
}

impl Folder {
    fn add(&mut self, name: String, node: Node) {
        match node {
            Node::File(file) => self.files.push((name, file)),
            Node::Folder(below) => self.folders.push((name, below)),
            Node::Link(target) => self.links.push((name, target)),
        }
    }
}

/// Searches for the outputs, and counts them.
#[derive(Debug)]
pub(super) struct Search {
    root: PathBuf,
    limits: Limits,
    nodes: usize,
    bytes: u64,
    /// The depth of the current folder in an output.
    level: usize,
}

/// A node found at a path.
enum Node {
    File(File),
    Folder(Folder),
    Link(String),
}

impl Search {
    /// Searches in the folder `root` of an action that has ended.
    pub(super) fn new(root: &Path, limits: Limits) -> Self {
        Self {
            root: root.to_owned(),
            limits,
            nodes: 0,
            bytes: 0,
            level: 0,
        }
    }

    /// Finds the outputs that the command should have made. Missing ones are left out.
    pub(super) fn find(mut self, command: &Command) -> Result<Folder, RunError> {
        let mut outputs = Folder::default();
        for output in &command.outputs {
            let Some((path, metadata)) = self.locate(&command.directory, output)? else {
                continue;
            };
            let (name, node) = (output.path.clone(), self.node(&path, &metadata)?);
            let wrong = match (&node, output.kind) {
                (Node::File(_), Kind::Folder) => Some("a file, not a folder"),
                (Node::Folder(_), Kind::File) => Some("a folder, not a file"),
                (Node::Link(_), Kind::Folder) if self.leads(&path, Metadata::is_file) => {
                    Some("a link to a file, not to a folder")
                }
                (Node::Link(_), Kind::File) if self.leads(&path, Metadata::is_dir) => {
                    Some("a link to a folder, not to a file")
                }
                _ => None,
            };
            if let Some(wrong) = wrong {
                return Err(RunError::Output(format!("{name:?} is {wrong}")));
            }
            outputs.add(name, node);
        }
        Ok(outputs)
    }

    /// Finds the path of an output, if it is there. No folder on the path may be a symbolic link,
    /// as it might lead out of the folder.
    fn locate(
        &self,
        directory: &str,
        output: &Output,
    ) -> Result<Option<(PathBuf, Metadata)>, RunError> {
        let mut path = self.root.join(directory);
        let mut found = self.look(&path)?;
        for name in output.path.split('/').filter(|name| !name.is_empty()) {
            match &found {
                Some(metadata) if metadata.is_dir() => {}
                Some(metadata) if metadata.is_symlink() => {
                    let why = format!("{:?} is behind a symbolic link", output.path);
                    return Err(RunError::Output(why));
                }
                _ => return Ok(None),
            }
            path.push(name);
            found = self.look(&path)?;
        }
        Ok(found.map(|metadata| (path, metadata)))
    }

    fn node(&mut self, path: &Path, metadata: &Metadata) -> Result<Node, RunError> {
        self.nodes += 1;
        if self.nodes > self.limits.output_nodes {
            let most = self.limits.output_nodes;
            return Err(RunError::TooMuch(format!(
                "more than {most} files and folders"
            )));
        }
        let kind = metadata.file_type();
        if kind.is_file() {
            self.bytes = self.bytes.saturating_add(metadata.len());
            if self.bytes > self.limits.output_bytes {
                let most = self.limits.output_bytes;
                return Err(RunError::TooMuch(format!(
                    "its files have more than {most} bytes"
                )));
            }
            let executable = metadata.permissions().mode() & 0o100 != 0;
            Ok(Node::File(File {
                path: path.to_owned(),
                executable,
            }))
        } else if kind.is_symlink() {
            self.link(path).map(Node::Link)
        } else if kind.is_dir() {
            self.folder(path).map(Node::Folder)
        } else {
            let why = format!(
                "{:?} is neither a file, a folder nor a link",
                self.short(path)
            );
            Err(RunError::Output(why))
        }
    }

    fn link(&self, path: &Path) -> Result<String, RunError> {
        let target = fs::read_link(path).map_err(|error| self.unreadable(path, error))?;
        let name = self.short(path);
        let text = target.to_str().map(str::to_owned);
        let target = text.ok_or_else(|| {
            RunError::Output(format!("the target of {name:?} is not UTF-8: {target:?}"))
        })?;
        check_link(&name.to_string_lossy(), &target).map_err(RunError::Output)?;
        Ok(target)
    }

    /// Returns true if the link leads to such a node of the action's folder.
    fn leads(&self, link: &Path, is_such: fn(&Metadata) -> bool) -> bool {
        let (Ok(root), Ok(target)) = (self.root.canonicalize(), link.canonicalize()) else {
            return false;
        };
        target.starts_with(root) && fs::symlink_metadata(target).is_ok_and(|it| is_such(&it))
    }

    fn folder(&mut self, path: &Path) -> Result<Folder, RunError> {
        self.level += 1;
        if self.level > MOST_LEVELS {
            let what = format!("folders in each other, more than {MOST_LEVELS}");
            return Err(RunError::TooMuch(what));
        }
        let mut folder = Folder::default();
        let entries = fs::read_dir(path).map_err(|error| self.unreadable(path, error))?;
        for entry in entries {
            let entry = entry.map_err(|error| self.unreadable(path, error))?;
            let path = entry.path();
            let name = entry.file_name().into_string().map_err(|name| {
                RunError::Output(format!("the name {name:?} of a file is not UTF-8"))
            })?;
            check_name(&name).map_err(RunError::Output)?;
            let metadata = entry.metadata();
            let metadata = metadata.map_err(|error| self.unreadable(&path, error))?;
            folder.add(name, self.node(&path, &metadata)?);
        }
        folder.files.sort_by(|a, b| a.0.cmp(&b.0));
        folder.folders.sort_by(|a, b| a.0.cmp(&b.0));
        folder.links.sort();
        self.level -= 1;
        Ok(folder)
    }

    /// Shortens the path to the part below the folder of the action.
    fn short<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    fn look(&self, path: &Path) -> Result<Option<Metadata>, RunError> {
        match fs::symlink_metadata(path) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.unreadable(path, error)),
        }
    }

    /// Makes the error: the action may have denied access, or made too long a name.
    fn unreadable(&self, path: &Path, error: io::Error) -> RunError {
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidFilename => {
                let name = self.short(path);
                RunError::Output(format!("{name:?} cannot be read: {error}"))
            }
            _ => RunError::machine("look at an output", error),
        }
    }
}
