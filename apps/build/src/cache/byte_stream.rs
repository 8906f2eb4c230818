//! Large blobs, one piece after another.

use std::pin::Pin;

use bazel_remote_apis::google::bytestream::byte_stream_server::ByteStream;
use bazel_remote_apis::google::bytestream::{
    QueryWriteStatusRequest, QueryWriteStatusResponse, ReadRequest, ReadResponse, WriteRequest,
    WriteResponse,
};
use futures_util::{Stream, StreamExt as _, stream};
use tokio::time::timeout;
use tonic::{Request, Response, Status, Streaming};

use super::resource_name::{NotAResource, ResourceName};
use super::service::Cache;
use super::status::{read_failed, write_failed};
use super::uploads::Key;
use crate::storage::{Range, Writer};

#[tonic::async_trait]
impl ByteStream for Cache {
    type ReadStream = Pin<Box<dyn Stream<Item = Result<ReadResponse, Status>> + Send>>;

    async fn read(
        &self,
        request: Request<ReadRequest>,
    ) -> Result<Response<Self::ReadStream>, Status> {
        let request = request.into_inner();
        let name = ResourceName::of_read(&request.resource_name).map_err(refused)?;
        self.check_instance(&name.instance)?;
        let from = u64::try_from(request.read_offset).ok();
        let from = from.filter(|from| *from <= name.digest.size());
        let from = from.ok_or_else(|| {
            Status::out_of_range(format!(
                "the blob {} has no byte {}",
                name.digest, request.read_offset
            ))
        })?;
        let length = match u64::try_from(request.read_limit) {
            Ok(0) => None,
            Ok(limit) => Some(limit),
            Err(_) => return Err(Status::invalid_argument("the limit is negative")),
        };
        let reader = self
            .storage()
            .blobs
            .open(name.digest, Range { from, length });
        let reader = reader.await.map_err(|error| read_failed(&error))?;
        let pieces = stream::try_unfold(reader, |mut reader| async move {
            let piece = reader.next().await.map_err(|error| read_failed(&error))?;
            Ok(piece.map(|data| (ReadResponse { data: data.into() }, reader)))
        });
        Ok(Response::new(pieces.boxed()))
    }

    async fn write(
        &self,
        request: Request<Streaming<WriteRequest>>,
    ) -> Result<Response<WriteResponse>, Status> {
        let cache = self.clone();
        let requests = request.into_inner();
        // A task of its own: a broken connection drops this call, and the task notices it and parks
        // the upload.
        let upload = tokio::spawn(async move { cache.upload(requests).await });
        let committed = upload.await;
        let committed =
            committed.map_err(|_| Status::internal("the upload ended in a panic"))??;
        Ok(Response::new(WriteResponse {
            committed_size: signed(committed),
        }))
    }

    async fn query_write_status(
        &self,
        request: Request<QueryWriteStatusRequest>,
    ) -> Result<Response<QueryWriteStatusResponse>, Status> {
        let name = ResourceName::of_write(&request.into_inner().resource_name).map_err(refused)?;
        self.check_instance(&name.instance)?;
        let there = self.storage().blobs.contains(name.digest).await;
        let complete = there.map_err(|error| read_failed(&error))?;
        let committed = if complete {
            name.digest.size()
        } else {
            self.uploads().taken(&Key::of(name)).unwrap_or(0)
        };
        Ok(Response::new(QueryWriteStatusResponse {
            committed_size: signed(committed),
            complete,
        }))
    }
}

/// The end of an upload whose bytes were not refused.
enum End {
    /// The client says that this is all.
    Finished,
    /// More may come in another stream.
    Open,
    /// The connection broke.
    Broken(Status),
}

impl Cache {
    /// Receives an upload; returns the number of the blob's bytes that are here.
    async fn upload(&self, mut requests: Streaming<WriteRequest>) -> Result<u64, Status> {
        let first = self.message(&mut requests).await?;
        let first = first.ok_or_else(|| Status::invalid_argument("a write without a message"))?;
        let name = ResourceName::of_write(&first.resource_name).map_err(refused)?;
        self.check_instance(&name.instance)?;
        let blobs = &self.storage().blobs;
        let there = blobs.contains(name.digest).await;
        if there.map_err(|error| write_failed(&error))? {
            // Nobody needs the rest.
            return Ok(name.digest.size());
        }
        let key = Key::of(name.clone());
        let mut writer = match self.uploads().resume(&key) {
            Some(parked) if first.write_offset > 0 => parked,
            _ => {
                let writer = blobs.writer(name.digest).await;
                writer.map_err(|error| write_failed(&error))?
            }
        };
        let text = first.resource_name.clone();
        match self.take(&mut requests, first, &text, &mut writer).await? {
            End::Finished => {
                let digest = writer.finish().await;
                let digest = digest.map_err(|error| write_failed(&error))?;
                Ok(digest.size())
            }
            End::Open => {
                let taken = writer.taken();
                self.park(key, writer);
                Ok(taken)
            }
            End::Broken(status) => {
                self.park(key, writer);
                Err(status)
            }
        }
    }

    /// Writes the bytes that come.
    async fn take(
        &self,
        requests: &mut Streaming<WriteRequest>,
        first: WriteRequest,
        name: &str,
        writer: &mut Writer,
    ) -> Result<End, Status> {
        let mut next = first;
        loop {
            if !next.resource_name.is_empty() && next.resource_name != name {
                return Err(Status::invalid_argument("a write of two resources"));
            }
            if u64::try_from(next.write_offset).ok() != Some(writer.taken()) {
                return Err(Status::invalid_argument(format!(
                    "{} bytes came so far, but the next ones are said to be at {}",
                    writer.taken(),
                    next.write_offset
                )));
            }
            let written = writer.write(next.data.into()).await;
            written.map_err(|error| write_failed(&error))?;
            let finished = next.finish_write;
            next = match self.message(requests).await {
                Ok(Some(_)) if finished => {
                    return Err(Status::invalid_argument("bytes after the end of a write"));
                }
                Ok(Some(message)) => message,
                Ok(None) if finished => return Ok(End::Finished),
                Ok(None) => return Ok(End::Open),
                Err(status) if status.code() == tonic::Code::DeadlineExceeded => {
                    return Err(status);
                }
                Err(status) => return Ok(End::Broken(status)),
            };
        }
    }

    /// Returns the next message of an upload.
    async fn message(
        &self,
        requests: &mut Streaming<WriteRequest>,
    ) -> Result<Option<WriteRequest>, Status> {
        let idle = self.config().idle;
        match timeout(idle, requests.message()).await {
            Ok(message) => message,
            Err(_) => Err(Status::deadline_exceeded(format!(
                "nothing of the upload came for {idle:?}"
            ))),
        }
    }

    /// Parks the upload on a disk; other storages hold unfinished uploads in memory, and drop it.
    fn park(&self, key: Key, writer: Writer) {
        if self.storage().blobs.is_disk() {
            self.uploads().park(key, writer);
        }
    }
}

fn refused(error: NotAResource) -> Status {
    match error {
        NotAResource::Compressed => Status::unimplemented(error.to_string()),
        _ => Status::invalid_argument(error.to_string()),
    }
}

fn signed(size: u64) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}
