//! A folder with everything below it.

use std::collections::{HashSet, VecDeque};

use futures_util::{Stream, stream};
use prost::Message as _;
use tonic::Status;

use super::service::digest;
use super::status::read_failed;
use crate::digest::Digest;
use crate::reapi::{Directory, GetTreeResponse};
use crate::storage::{Blobs, StorageError};

/// The most different folders in a tree.
const MAX_FOLDERS: usize = 100_000;

/// The most bytes of a folder's message.
const MAX_FOLDER: u64 = 4 << 20;

/// About how many bytes of folders go in one message.
const PAGE: usize = 1 << 20;

struct Walk {
    blobs: Blobs,
    next: VecDeque<Digest>,
    /// The folders already sent: each is sent once, even if it stands in several places.
    seen: HashSet<Digest>,
    first: Option<Directory>,
}

/// Streams the folders below a root, the root first. Missing ones are left out, as the protocol
/// says.
pub(super) async fn pages(
    blobs: Blobs,
    root: Digest,
) -> Result<impl Stream<Item = Result<GetTreeResponse, Status>>, Status> {
    let mut walk = Walk {
        blobs,
        next: VecDeque::new(),
        seen: HashSet::from([root]),
        first: None,
    };
    let folder = walk.read(root).await?;
    let missing = || read_failed(&StorageError::Missing(root));
    walk.first = Some(folder.ok_or_else(missing)?);
    Ok(stream::try_unfold(walk, |mut walk| async move {
        let page = walk.page().await?;
        Ok(page.map(|directories| {
            let page = GetTreeResponse {
                directories,
                next_page_token: String::new(),
            };
            (page, walk)
        }))
    }))
}

impl Walk {
    async fn page(&mut self) -> Result<Option<Vec<Directory>>, Status> {
        let mut page = Vec::new();
        let mut size = 0;
        while size < PAGE {
            let folder = match self.first.take() {
                Some(root) => root,
                None => {
                    let Some(digest) = self.next.pop_front() else {
                        break;
                    };
                    let Some(folder) = self.read(digest).await? else {
                        continue;
                    };
                    folder
                }
            };
            for node in &folder.directories {
                let digest = digest(node.digest.as_ref(), "a folder")?;
                if self.seen.len() < MAX_FOLDERS {
                    if self.seen.insert(digest) {
                        self.next.push_back(digest);
                    }
                } else if !self.seen.contains(&digest) {
                    return Err(Status::resource_exhausted(format!(
                        "a tree may have {MAX_FOLDERS} different folders at most"
                    )));
                }
            }
            size += folder.encoded_len();
            page.push(folder);
        }
        Ok((!page.is_empty()).then_some(page))
    }

    async fn read(&self, digest: Digest) -> Result<Option<Directory>, Status> {
        if digest.size() > MAX_FOLDER {
            return Err(Status::resource_exhausted(format!(
                "a folder's message may have {MAX_FOLDER} bytes at most"
            )));
        }
        let bytes = match self.blobs.read(digest).await {
            Ok(bytes) => bytes,
            Err(StorageError::Missing(_)) => return Ok(None),
            Err(error) => return Err(read_failed(&error)),
        };
        let folder = Directory::decode(bytes);
        let folder = folder
            .map_err(|_| Status::invalid_argument(format!("the blob {digest} is no folder")))?;
        Ok(Some(folder))
    }
}
