//! Checks an action before a worker gets it.

use std::collections::HashSet;
use std::num::NonZero;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use filch_build_scheduler::Platform;
use filch_sync::lock;
use lru::LruCache;
use prost::Message;
use tonic::Code;

use super::failure::Failure;
use super::platform::needs_of;
use crate::digest::Digest;
use crate::reapi::{Action, Command, Directory, platform_of};
use crate::storage::{Blobs, StorageError};

/// The most bytes of messages that go to the worker with the action.
const MOST_MESSAGES: usize = 64 << 10;
/// The most input files for which a worker is told which other workers have them.
const MOST_FILES: usize = 256;
/// The most files and folders in an action's input.
const MOST_INPUTS: usize = 200_000;
/// The most missing blobs that a client is told of at once.
const MOST_MISSING: usize = 10_000;

/// A folder, and the message that encodes it.
#[derive(Debug)]
pub(super) struct Folder {
    message: Bytes,
    directory: Directory,
}

/// The folders that were read lately: the actions of a build share most of theirs.
pub(super) type Folders = Mutex<LruCache<Digest, Arc<Folder>>>;

/// The most folders that are kept; the least recently used ones go first.
pub(super) const MOST_FOLDERS: NonZero<usize> = NonZero::new(8192).unwrap();

/// An action whose blobs are all there.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The beginning of the command, for people.
    pub(super) title: String,
    pub(super) needs: Arc<Platform>,
    /// The input files that are worth looking for, largest first.
    pub(super) files: Vec<Digest>,
    /// The action, its command and its folders, if they are small.
    pub(super) messages: Vec<Bytes>,
}

/// Reads what the action names, and checks that all its inputs are there.
pub(super) async fn prepare(
    blobs: &Blobs,
    folders: &Folders,
    action: Action,
    message: Bytes,
) -> Result<Prepared, Failure> {
    let command = Digest::of_field(action.command_digest.as_ref(), "the command")?;
    let root = Digest::of_field(action.input_root_digest.as_ref(), "the input root")?;
    let mut missing = Vec::new();
    let mut messages = Messages::default();
    messages.add(message);
    let mut title = String::new();
    let mut asks = action.platform.clone();
    match blobs.read(command).await {
        Ok(bytes) => {
            let command: Command = decode("its command", &bytes)?;
            title = begin(&command.arguments);
            asks = platform_of(&action, &command).cloned();
            messages.add(bytes);
        }
        Err(StorageError::Missing(blob)) => missing.push(blob),
        Err(error) => return Err(error.into()),
    }
    let needs = Arc::new(needs_of(asks.as_ref())?);
    let mut inputs = Inputs::default();
    inputs.walk(blobs, folders, root, &mut messages).await?;
    missing.append(&mut inputs.missing);
    let mut files: Vec<_> = inputs.files.into_iter().collect();
    missing.extend(blobs.missing(files.iter().copied()).await?);
    if !missing.is_empty() {
        missing.truncate(MOST_MISSING);
        return Err(Failure::missing(missing));
    }
    files.sort_unstable_by_key(|file| std::cmp::Reverse(file.size()));
    files.truncate(MOST_FILES);
    Ok(Prepared {
        title,
        needs,
        files,
        messages: messages.small,
    })
}

/// The messages that go to the worker with the action.
#[derive(Default)]
struct Messages {
    small: Vec<Bytes>,
    size: usize,
}

impl Messages {
    fn add(&mut self, message: Bytes) {
        if self.size + message.len() <= MOST_MESSAGES {
            self.size += message.len();
            self.small.push(message);
        }
    }
}

/// The tree below the input root. A folder in several places is looked at once.
#[derive(Default)]
struct Inputs {
    files: HashSet<Digest>,
    missing: Vec<Digest>,
}

impl Inputs {
    async fn walk(
        &mut self,
        blobs: &Blobs,
        folders: &Folders,
        root: Digest,
        messages: &mut Messages,
    ) -> Result<(), Failure> {
        let mut seen = HashSet::from([root]);
        let mut todo = vec![root];
        while let Some(digest) = todo.pop() {
            let Some(folder) = read_folder(blobs, folders, digest).await? else {
                self.missing.push(digest);
                continue;
            };
            messages.add(folder.message.clone());
            for file in &folder.directory.files {
                let blob = Digest::of_field(file.digest.as_ref(), format_args!("{:?}", file.name));
                self.files.insert(blob?);
            }
            for below in &folder.directory.directories {
                let name = format_args!("{:?}", below.name);
                let digest = Digest::of_field(below.digest.as_ref(), name)?;
                if seen.insert(digest) {
                    todo.push(digest);
                }
            }
            if self.files.len() + seen.len() > MOST_INPUTS {
                let what = format!("the action has more than {MOST_INPUTS} inputs");
                return Err(Failure::new(Code::ResourceExhausted, what));
            }
        }
        Ok(())
    }
}

async fn read_folder(
    blobs: &Blobs,
    folders: &Folders,
    digest: Digest,
) -> Result<Option<Arc<Folder>>, Failure> {
    let known = lock(folders).get(&digest).cloned();
    if let Some(folder) = known {
        // A worker may have to read it, if it is large.
        return Ok(blobs.contains(digest).await?.then_some(folder));
    }
    let message = match blobs.read(digest).await {
        Ok(bytes) => bytes,
        Err(StorageError::Missing(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let directory: Directory = decode("a folder of its input", &message)?;
    let folder = Arc::new(Folder { message, directory });
    lock(folders).put(digest, Arc::clone(&folder));
    Ok(Some(folder))
}

fn decode<M: Message + Default>(what: &str, bytes: &Bytes) -> Result<M, Failure> {
    let invalid = |error| Failure::invalid(&format!("{what} is not such a message: {error}"));
    M::decode(bytes.clone()).map_err(invalid)
}

fn begin(arguments: &[String]) -> String {
    const LONGEST: usize = 120;
    let mut title = String::new();
    for argument in arguments {
        if title.len() >= LONGEST {
            break;
        }
        if !title.is_empty() {
            title.push(' ');
        }
        title.extend(argument.chars().take(LONGEST));
    }
    title.chars().take(LONGEST).collect()
}
