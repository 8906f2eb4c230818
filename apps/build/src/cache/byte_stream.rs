//! Large blobs, one piece after another; uploads whose connections broke may be resumed.

use std::num::NonZero;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use bazel_remote_apis::google::bytestream::byte_stream_server::ByteStream;
use bazel_remote_apis::google::bytestream::{
    QueryWriteStatusRequest, QueryWriteStatusResponse, ReadRequest, ReadResponse, WriteRequest,
    WriteResponse,
};
use bytes::Bytes;
use filch_sync::lock;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use lru::LruCache;
use tonic::{Request, Response, Status, Streaming};

use super::resource_name::{NotAResource, ResourceName};
use super::service::Cache;
use super::status::invalid;
use super::zstd;
use crate::storage::{Range, StorageError, Writer};

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
            Ok(_) if name.compressed => return Err(invalid("a compressed read with a limit")),
            Ok(limit) => Some(limit),
            Err(_) => return Err(invalid("the limit is negative")),
        };
        let blobs = &self.storage().blobs;
        let reader = blobs.open(name.digest, Range { from, length }).await?;
        let pieces = stream::try_unfold(reader, |mut reader| async move {
            let piece = reader.next().await?;
            Ok(piece.map(|piece| (piece, reader)))
        });
        let pieces = match name.compressed {
            true => zstd::compress(pieces).left_stream(),
            false => pieces.map_err(StorageError::into).right_stream(),
        };
        let responses = pieces.map_ok(|data| ReadResponse { data: data.into() });
        Ok(Response::new(responses.boxed()))
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
            committed_size: committed,
        }))
    }

    async fn query_write_status(
        &self,
        request: Request<QueryWriteStatusRequest>,
    ) -> Result<Response<QueryWriteStatusResponse>, Status> {
        let name = ResourceName::of_write(&request.into_inner().resource_name).map_err(refused)?;
        self.check_instance(&name.instance)?;
        let complete = self.storage().blobs.contains(name.digest).await?;
        let committed = match complete {
            true => Some(whole(&name)),
            false => self.uploads().taken(&name).map(signed),
        };
        let unknown = || Status::not_found(format!("nothing came of the upload {name}"));
        Ok(Response::new(QueryWriteStatusResponse {
            committed_size: committed.ok_or_else(unknown)?,
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
    /// The connection broke, or the next bytes are not those that follow.
    Broken(Status),
}

/// Takes the bytes of an upload.
pub(super) trait Sink: Send {
    /// Returns the number of bytes that were taken.
    fn taken(&self) -> u64;

    fn write(&mut self, bytes: Bytes) -> impl Future<Output = Result<(), Status>> + Send;
}

impl Sink for Writer {
    fn taken(&self) -> u64 {
        Self::taken(self)
    }

    async fn write(&mut self, bytes: Bytes) -> Result<(), Status> {
        Ok(Self::write(self, bytes).await?)
    }
}

impl Cache {
    /// Receives an upload; returns how many of its bytes are here.
    async fn upload(&self, mut requests: Streaming<WriteRequest>) -> Result<i64, Status> {
        let first = self.message(&mut requests).await?;
        let first = first.ok_or_else(|| invalid("a write without a message"))?;
        let name = ResourceName::of_write(&first.resource_name).map_err(refused)?;
        self.check_instance(&name.instance)?;
        let blobs = &self.storage().blobs;
        if blobs.contains(name.digest).await? {
            // Nobody needs the rest.
            return Ok(whole(&name));
        }
        if name.compressed {
            return self.upload_compressed(requests, first, name).await;
        }
        let mut writer = match self.uploads().resume(&name, &first)? {
            Some(parked) => parked,
            None => blobs.writer(name.digest).await?,
        };
        match self.take(&mut requests, first, &mut writer).await? {
            End::Finished => Ok(signed(writer.finish().await?.size())),
            End::Open => {
                let taken = writer.taken();
                self.park(name, writer);
                Ok(signed(taken))
            }
            End::Broken(status) => {
                self.park(name, writer);
                Err(status)
            }
        }
    }

    /// Receives an upload whose bytes are compressed. It cannot be resumed.
    async fn upload_compressed(
        &self,
        mut requests: Streaming<WriteRequest>,
        first: WriteRequest,
        name: ResourceName,
    ) -> Result<i64, Status> {
        let mut writer = self.storage().blobs.writer(name.digest).await?;
        let (mut sink, source) = zstd::decompress();
        let receive = async move {
            let end = self.take(&mut requests, first, &mut sink).await?;
            let taken = sink.taken();
            // The end, for the source.
            drop(sink);
            match end {
                End::Finished => Ok(taken),
                End::Open => Err(invalid("a compressed upload that is not finished")),
                End::Broken(status) => Err(status),
            }
        };
        let write = async {
            let mut source = pin!(source);
            while let Some(piece) = source.next().await {
                writer.write(piece?).await?;
            }
            Ok(())
        };
        let (taken, ()) = tokio::try_join!(receive, write)?;
        writer.finish().await?;
        Ok(signed(taken))
    }

    /// Writes the bytes that come.
    async fn take(
        &self,
        requests: &mut Streaming<WriteRequest>,
        first: WriteRequest,
        sink: &mut impl Sink,
    ) -> Result<End, Status> {
        let name = first.resource_name.clone();
        let mut next = first;
        loop {
            if !next.resource_name.is_empty() && next.resource_name != name {
                return Err(invalid("a write of two resources"));
            }
            if let Err(status) = check_offset(&next, sink.taken()) {
                return Ok(End::Broken(status));
            }
            sink.write(next.data.into()).await?;
            if next.finish_write {
                // The client may wait for the answer before it closes its half of the stream.
                return Ok(End::Finished);
            }
            next = match self.message(requests).await {
                Ok(Some(message)) => message,
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
        self.in_time(requests.message()).await?
    }

    /// Parks the upload on a disk; other storages hold unfinished uploads in memory, and drop it.
    fn park(&self, name: ResourceName, writer: Writer) {
        if self.storage().blobs.is_disk() {
            self.uploads().park(name, writer);
        }
    }
}

fn check_offset(next: &WriteRequest, taken: u64) -> Result<(), Status> {
    let said = next.write_offset;
    if u64::try_from(said) == Ok(taken) {
        return Ok(());
    }
    Err(invalid(format_args!(
        "{taken} bytes came so far, but the next ones are said to be at {said}"
    )))
}

fn refused(error: NotAResource) -> Status {
    match error {
        NotAResource::OtherCompressor(_) => Status::unimplemented(error.to_string()),
        _ => invalid(error),
    }
}

/// Returns the size of an upload that is not needed any more. As compressed, it is not known.
fn whole(name: &ResourceName) -> i64 {
    match name.compressed {
        true => -1,
        false => signed(name.digest.size()),
    }
}

fn signed(size: u64) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

/// The most parked uploads: each is a file.
const MAX: NonZero<usize> = NonZero::new(64).unwrap();

/// Uploads whose connections broke, and that may be resumed for a while.
#[derive(Debug)]
pub(super) struct Uploads {
    parked: Arc<Mutex<Parked>>,
    resumable: Duration,
}

#[derive(Debug)]
struct Parked {
    uploads: LruCache<ResourceName, (u64, Writer)>,
    /// The number of the next one.
    next: u64,
}

impl Uploads {
    pub(super) fn new(resumable: Duration) -> Self {
        Self {
            parked: Arc::new(Mutex::new(Parked {
                uploads: LruCache::new(MAX),
                next: 0,
            })),
            resumable,
        }
    }

    /// Keeps an upload for a while; if there are too many, drops the oldest.
    pub(super) fn park(&self, name: ResourceName, writer: Writer) {
        let mut parked = lock(&self.parked);
        let number = parked.next;
        parked.next += 1;
        parked.uploads.push(name.clone(), (number, writer));
        let all = Arc::downgrade(&self.parked);
        tokio::spawn(forget(all, name, number, self.resumable));
    }

    /// Returns how many bytes of a parked upload have come.
    fn taken(&self, name: &ResourceName) -> Option<u64> {
        let parked = lock(&self.parked);
        let (_, writer) = parked.uploads.peek(name)?;
        Some(writer.taken())
    }

    /// Takes an upload out if the message goes on with it, and forgets it if that begins anew. A
    /// wrong offset leaves it parked.
    fn resume(&self, name: &ResourceName, first: &WriteRequest) -> Result<Option<Writer>, Status> {
        let mut parked = lock(&self.parked);
        if first.write_offset == 0 {
            let old = parked.uploads.pop(name);
            // Its file is removed without the lock.
            drop(parked);
            drop(old);
            return Ok(None);
        }
        let writer = parked.uploads.peek(name).map(|(_, writer)| writer);
        check_offset(first, writer.map_or(0, Writer::taken))?;
        Ok(parked.uploads.pop(name).map(|(_, writer)| writer))
    }
}

async fn forget(all: Weak<Mutex<Parked>>, name: ResourceName, number: u64, after: Duration) {
    tokio::time::sleep(after).await;
    let Some(parked) = all.upgrade() else {
        return;
    };
    let mut parked = lock(&parked);
    // The upload may have been resumed, and parked again.
    let upload = parked.uploads.peek(&name);
    if upload.is_some_and(|(its, _)| *its == number) {
        parked.uploads.pop(&name);
    }
}
