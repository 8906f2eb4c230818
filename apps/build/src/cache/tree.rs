//! A folder with everything below it.

use std::collections::{HashSet, VecDeque};

use futures_util::{Stream, stream};
use prost::Message as _;
use tonic::Status;

use super::service::digest;
use super::status::invalid;
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
    root: Digest,
    next: VecDeque<Digest>,
    /// The folders that were sent or will be: each is sent once, even if it stands in several
    /// places.
    seen: HashSet<Digest>,
}

/// Streams the folders below a root, the root first. Missing ones are left out, as the protocol
/// says, unless it is the root.
pub(super) fn pages(
    blobs: Blobs,
    root: Digest,
) -> impl Stream<Item = Result<GetTreeResponse, Status>> {
    let walk = Walk {
        blobs,
        root,
        next: VecDeque::from([root]),
        seen: HashSet::from([root]),
    };
    stream::try_unfold(walk, |mut walk| async move {
        let page = walk.page().await?;
        Ok(page.map(|directories| {
            let page = GetTreeResponse {
                directories,
                next_page_token: String::new(),
            };
            (page, walk)
        }))
    })
}

impl Walk {
    async fn page(&mut self) -> Result<Option<Vec<Directory>>, Status> {
        let mut page = Vec::new();
        let mut size = 0;
        while size < PAGE
            && let Some(folder) = self.next.pop_front()
        {
            let Some(folder) = self.read(folder).await? else {
                continue;
            };
            for node in &folder.directories {
                let below = digest(node.digest.as_ref(), "a folder")?;
                if self.seen.len() < MAX_FOLDERS {
                    if self.seen.insert(below) {
                        self.next.push_back(below);
                    }
                } else if !self.seen.contains(&below) {
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
            Err(StorageError::Missing(_)) if digest != self.root => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let no_folder = |_| invalid(format_args!("the blob {digest} is no folder"));
        Ok(Some(Directory::decode(bytes).map_err(no_folder)?))
    }
}
