//! Other workers' blobs, and this worker's for them.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use bazel_remote_apis::google::bytestream::byte_stream_server::ByteStream;
use bazel_remote_apis::google::bytestream::{
    QueryWriteStatusRequest, QueryWriteStatusResponse, ReadRequest, ReadResponse, WriteRequest,
    WriteResponse,
};
use filch_sync::lock;
use futures_util::Stream;
use subtle::ConstantTimeEq as _;
use tonic::metadata::MetadataValue;
use tonic::{Request, Response, Status, Streaming};

use super::config::StartError;
use super::coordinator::{Authorized, peer};
use super::traffic::Counting;
use crate::cache::Cache;

/// The connections to other workers, and what they want to see. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Peers {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    /// The coordinator's; none before it has said it.
    key: String,
    channels: HashMap<String, Authorized>,
}

/// So many connections are kept.
const MOST: usize = 256;

impl Peers {
    /// What workers show each other from now on.
    pub(super) fn set_key(&self, key: String) {
        let mut shared = lock(&self.shared);
        if shared.key != key {
            *shared = Shared {
                key,
                channels: HashMap::new(),
            };
        }
    }

    pub(super) fn channel(&self, address: &str) -> Result<Authorized, StartError> {
        let mut shared = lock(&self.shared);
        if let Some(channel) = shared.channels.get(address) {
            return Ok(channel.clone());
        }
        if shared.channels.len() == MOST {
            shared.channels.clear();
        }
        let channel = peer(address, &shared.key)?;
        shared.channels.insert(address.to_owned(), channel.clone());
        Ok(channel)
    }

    /// Whether another worker asks.
    fn check<T>(&self, request: &Request<T>) -> Result<(), Status> {
        let shared = lock(&self.shared);
        let sent = request.metadata().get("authorization");
        let sent = sent.map(MetadataValue::as_bytes).unwrap_or_default();
        let wanted = format!("Bearer {}", shared.key);
        if shared.key.is_empty() || !bool::from(sent.ct_eq(wanted.as_bytes())) {
            return Err(Status::unauthenticated(
                "only workers of the same coordinator may read",
            ));
        }
        Ok(())
    }
}

/// This worker's blobs, for others to read.
#[derive(Debug, Clone)]
pub(super) struct Serving {
    pub(super) cache: Cache,
    pub(super) peers: Peers,
    pub(super) counting: Counting,
}

#[tonic::async_trait]
impl ByteStream for Serving {
    type ReadStream = Pin<Box<dyn Stream<Item = Result<ReadResponse, Status>> + Send>>;

    async fn read(
        &self,
        request: Request<ReadRequest>,
    ) -> Result<Response<Self::ReadStream>, Status> {
        self.peers.check(&request)?;
        let pieces = self.cache.read(request).await?;
        self.counting.count(|traffic| traffic.served += 1);
        Ok(pieces)
    }

    async fn write(
        &self,
        _: Request<Streaming<WriteRequest>>,
    ) -> Result<Response<WriteResponse>, Status> {
        Err(Status::permission_denied("a worker takes no blobs"))
    }

    async fn query_write_status(
        &self,
        _: Request<QueryWriteStatusRequest>,
    ) -> Result<Response<QueryWriteStatusResponse>, Status> {
        Err(Status::permission_denied("a worker takes no blobs"))
    }
}
