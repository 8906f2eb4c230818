//! The files of a project that are inputs of jobs.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use glob::MatchOptions;
use tokio::task;

use super::file::{Graph, GraphError};
use super::job::{CACHE, JobError};
use super::tree::Node;
use crate::digest::Digest;
use crate::storage::Blobs;
use crate::worker::ways;

/// Finds the files of each job's inputs: paths in the project, sorted.
pub(super) fn find(graph: &Graph, project: &Path) -> Result<Vec<Vec<String>>, GraphError> {
    let outputs = graph.jobs.iter().flat_map(|job| &job.outputs);
    let outputs: HashSet<_> = outputs.map(String::as_str).collect();
    let is_output = |path: &str| ways(path).any(|way| outputs.contains(way));
    let mut known = HashMap::new();
    let mut found = Vec::new();
    for job in &graph.jobs {
        let mut files = Vec::new();
        for (pattern, _) in &job.inputs {
            if !known.contains_key(pattern) {
                let matches: Vec<_> = expand(pattern, project)
                    .into_iter()
                    .filter(|path| !is_output(path))
                    .collect();
                if matches.is_empty() {
                    return Err(graph.missing(job, pattern));
                }
                known.insert(pattern, matches);
            }
            files.extend(known[pattern].iter().cloned());
        }
        files.sort();
        files.dedup();
        found.push(files);
    }
    Ok(found)
}

/// Lists the files that match; if the pattern is a folder, all files in it.
fn expand(pattern: &str, project: &Path) -> Vec<String> {
    let plain = project.join(pattern);
    let pattern = match fs::metadata(&plain) {
        Ok(metadata) if metadata.is_dir() => format!("{}/**/*", escape(&plain)),
        Ok(_) => return vec![pattern.to_owned()],
        Err(_) => format!("{}/{pattern}", escape(project)),
    };
    let options = MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let paths = glob::glob_with(&pattern, options).into_iter().flatten();
    let files = paths.flatten().filter(|path| path.is_file());
    let names = files.filter_map(|path| {
        let path = path.strip_prefix(project).ok()?.to_str()?.to_owned();
        (path.split('/').next() != Some(CACHE)).then_some(path)
    });
    names.collect()
}

fn escape(path: &Path) -> String {
    glob::Pattern::escape(&path.to_string_lossy())
}

/// Puts files into the storage, each once.
#[derive(Debug)]
pub(super) struct Sources {
    project: PathBuf,
    known: HashMap<String, Node>,
}

impl Sources {
    /// Takes files of this project, whose path has no symbolic links.
    pub(super) fn new(project: &Path) -> Self {
        Self {
            project: project.to_owned(),
            known: HashMap::new(),
        }
    }

    /// Puts a file into the storage.
    pub(super) async fn store(&mut self, path: &str, blobs: &Blobs) -> Result<Node, JobError> {
        if let Some(node) = self.known.get(path) {
            return Ok(node.clone());
        }
        let (project, full) = (self.project.clone(), self.project.join(path));
        let read = move || {
            let real = fs::canonicalize(&full)?;
            if !real.starts_with(&project) {
                return Err(io::Error::other("it is a link that leaves the project"));
            }
            let executable = fs::metadata(&real)?.permissions().mode() & 0o100 != 0;
            Ok((fs::read(real)?, executable))
        };
        let read = task::spawn_blocking(read).await.map_err(io::Error::other);
        let file = |error| JobError::File {
            path: path.to_owned(),
            error,
        };
        let (bytes, executable) = read.and_then(|read| read).map_err(file)?;
        let blob = Digest::of(&bytes);
        blobs.add(blob, bytes.into()).await?;
        let node = Node::File { blob, executable };
        self.known.insert(path.to_owned(), node.clone());
        Ok(node)
    }
}
