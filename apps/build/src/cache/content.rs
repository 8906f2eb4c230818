//! Blobs by their digests, several at a time, and folders with all below them.

use std::collections::{HashSet, VecDeque};
use std::pin::Pin;

use bazel_remote_apis::google::rpc;
use futures_util::{Stream, StreamExt as _, stream};
use prost::Message;
use tonic::{Request, Response, Status, Streaming};

use super::service::{Cache, MAX_ANSWER, MAX_BATCH, digest};
use super::status::invalid;
use crate::digest::Digest;
use crate::reapi::content_addressable_storage_server::ContentAddressableStorage;
use crate::reapi::{
    self, BatchReadBlobsRequest, BatchReadBlobsResponse, BatchUpdateBlobsRequest,
    BatchUpdateBlobsResponse, Directory, FindMissingBlobsRequest, FindMissingBlobsResponse,
    GetChunkMappingRequest, GetChunkMappingResponse, GetTreeRequest, GetTreeResponse,
    RegisterChunkMappingRequest, RegisterChunkMappingResponse, SpliceBlobRequest,
    SpliceBlobResponse, SplitBlobRequest, SplitBlobResponse, batch_read_blobs_response,
    batch_update_blobs_request, batch_update_blobs_response, compressor,
};
use crate::storage::{Blobs, StorageError};

/// The number of blobs of a batch that are read or written at a time.
const AT_A_TIME: usize = 8;

type Responses<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl ContentAddressableStorage for Cache {
    async fn find_missing_blobs(
        &self,
        request: Request<FindMissingBlobsRequest>,
    ) -> Result<Response<FindMissingBlobsResponse>, Status> {
        let request = request.into_inner();
        self.check(&request.instance_name, request.digest_function)?;
        let digests = digests(&request.blob_digests)?;
        // It may name all of them.
        check_answer(&FindMissingBlobsResponse {
            missing_blob_digests: request.blob_digests,
        })?;
        let missing = self.storage().blobs.missing(digests).await?;
        Ok(Response::new(FindMissingBlobsResponse {
            missing_blob_digests: missing.into_iter().map(Into::into).collect(),
        }))
    }

    async fn batch_update_blobs(
        &self,
        request: Request<BatchUpdateBlobsRequest>,
    ) -> Result<Response<BatchUpdateBlobsResponse>, Status> {
        let request = request.into_inner();
        self.check(&request.instance_name, request.digest_function)?;
        let sizes = request.requests.iter().map(|blob| blob.data.len() as u64);
        check_batch(sizes)?;
        let names = request.requests.iter().map(|blob| blob.digest.clone());
        let failed = names.map(|digest| {
            let status = Some(rpc_status(&Status::unknown("")));
            batch_update_blobs_response::Response { digest, status }
        });
        // Nothing is stored if all could fail and there were no room to say so.
        check_answer(&BatchUpdateBlobsResponse {
            responses: failed.collect(),
        })?;
        let blobs = request.requests.into_iter();
        let responses = stream::iter(blobs)
            .map(|blob| async move {
                let name = blob.digest.clone();
                let status = self.update(blob).await.err().unwrap_or(Status::ok(""));
                batch_update_blobs_response::Response {
                    digest: name,
                    status: Some(rpc_status(&status)),
                }
            })
            .buffered(AT_A_TIME);
        let responses = responses.collect().await;
        let mut answer = BatchUpdateBlobsResponse { responses };
        if check_answer(&answer).is_err() {
            // There is room for the codes alone.
            let statuses = answer.responses.iter_mut().flat_map(|it| &mut it.status);
            statuses.for_each(|status| status.message.clear());
        }
        Ok(Response::new(answer))
    }

    async fn batch_read_blobs(
        &self,
        request: Request<BatchReadBlobsRequest>,
    ) -> Result<Response<BatchReadBlobsResponse>, Status> {
        let request = request.into_inner();
        self.check(&request.instance_name, request.digest_function)?;
        let digests = digests(&request.digests)?;
        check_batch(digests.iter().map(Digest::size))?;
        let responses = stream::iter(digests)
            .map(|digest| async move {
                let (data, status) = match self.storage().blobs.read(digest).await {
                    Ok(bytes) => (bytes, Status::ok("")),
                    Err(error) => (bytes::Bytes::new(), error.into()),
                };
                batch_read_blobs_response::Response {
                    digest: Some(digest.into()),
                    data: data.into(),
                    compressor: compressor::Value::Identity.into(),
                    status: Some(rpc_status(&status)),
                }
            })
            .buffered(AT_A_TIME);
        let responses = responses.collect().await;
        let answer = BatchReadBlobsResponse { responses };
        check_answer(&answer)?;
        Ok(Response::new(answer))
    }

    type GetTreeStream = Responses<GetTreeResponse>;

    async fn get_tree(
        &self,
        request: Request<GetTreeRequest>,
    ) -> Result<Response<Self::GetTreeStream>, Status> {
        let request = request.into_inner();
        self.check(&request.instance_name, request.digest_function)?;
        if !request.page_token.is_empty() {
            return Err(invalid(
                "a tree comes as one stream here: there are no page tokens",
            ));
        }
        let root = digest(request.root_digest.as_ref(), "the root")?;
        let most = usize::try_from(request.page_size);
        let most = most.map_err(|_| invalid("the page size is negative"))?;
        let pages = pages(self.storage().blobs.clone(), root, most);
        Ok(Response::new(pages.boxed()))
    }

    async fn split_blob(
        &self,
        _: Request<SplitBlobRequest>,
    ) -> Result<Response<SplitBlobResponse>, Status> {
        Err(no_chunks())
    }

    type GetChunkMappingStream = Responses<GetChunkMappingResponse>;

    async fn get_chunk_mapping(
        &self,
        _: Request<GetChunkMappingRequest>,
    ) -> Result<Response<Self::GetChunkMappingStream>, Status> {
        Err(no_chunks())
    }

    async fn splice_blob(
        &self,
        _: Request<SpliceBlobRequest>,
    ) -> Result<Response<SpliceBlobResponse>, Status> {
        Err(no_chunks())
    }

    async fn register_chunk_mapping(
        &self,
        _: Request<Streaming<RegisterChunkMappingRequest>>,
    ) -> Result<Response<RegisterChunkMappingResponse>, Status> {
        Err(no_chunks())
    }
}

impl Cache {
    async fn update(&self, blob: batch_update_blobs_request::Request) -> Result<(), Status> {
        if blob.compressor != i32::from(compressor::Value::Identity) {
            return Err(Status::unimplemented(
                "the blobs of a batch are not compressed here",
            ));
        }
        let digest = digest(blob.digest.as_ref(), "a blob")?;
        Ok(self.storage().blobs.write(digest, blob.data.into()).await?)
    }
}

fn digests(blobs: &[reapi::Digest]) -> Result<Vec<Digest>, Status> {
    blobs
        .iter()
        .map(|blob| digest(Some(blob), "a blob"))
        .collect()
}

fn no_chunks() -> Status {
    Status::unimplemented("blobs are whole here: they are neither split nor spliced")
}

fn check_batch(mut sizes: impl Iterator<Item = u64>) -> Result<(), Status> {
    let total = sizes.try_fold(0_u64, u64::checked_add);
    if total.is_some_and(|total| total <= MAX_BATCH) {
        return Ok(());
    }
    let most = format!("the blobs of a batch have {MAX_BATCH} bytes at most: use ByteStream");
    Err(Status::invalid_argument(most))
}

/// Refuses a request whose answer is one that clients do not take.
fn check_answer(answer: &impl Message) -> Result<(), Status> {
    if answer.encoded_len() <= MAX_ANSWER {
        return Ok(());
    }
    let most = "the answer about several blobs has 4 MiB at most: ask in several requests";
    Err(Status::invalid_argument(most))
}

fn rpc_status(status: &Status) -> rpc::Status {
    rpc::Status {
        code: status.code() as i32,
        message: status.message().to_owned(),
        details: Vec::new(),
    }
}

/// The most different folders in a tree.
const MAX_FOLDERS: usize = 100_000;

/// The most bytes of a folder's message: in an answer, a few stand beside it.
const MAX_FOLDER: u64 = MAX_ANSWER as u64 - 16;

/// The most bytes of folders in one answer, unless it has a single one.
const PAGE: u64 = 1 << 20;

struct Walk {
    blobs: Blobs,
    root: Digest,
    /// The most folders in one answer; 0 is no limit.
    most: usize,
    next: VecDeque<Digest>,
    /// The folders that were sent or will be: each is sent once, even if it stands in several
    /// places.
    seen: HashSet<Digest>,
}

/// Streams the folders below a root, the root first, at most so many in an answer. Missing ones are
/// left out, as the protocol says, unless it is the root.
pub(super) fn pages(
    blobs: Blobs,
    root: Digest,
    most: usize,
) -> impl Stream<Item = Result<GetTreeResponse, Status>> {
    let walk = Walk {
        blobs,
        root,
        most,
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
        while (self.most == 0 || page.len() < self.most)
            && let Some(&name) = self.next.front()
            && (page.is_empty() || size + name.size() <= PAGE)
        {
            self.next.pop_front();
            let Some(folder) = self.read(name).await? else {
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
            size += name.size();
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
