//! Other workers: the connections to them, the key that workers show each other, and the service
//! that gives them this worker's blobs.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use bazel_remote_apis::google::bytestream::byte_stream_server::{ByteStream, ByteStreamServer};
use bazel_remote_apis::google::bytestream::{
    QueryWriteStatusRequest, QueryWriteStatusResponse, ReadRequest, ReadResponse, WriteRequest,
    WriteResponse,
};
use filch_sync::lock;
use futures_util::Stream;
use http::Uri;
use subtle::ConstantTimeEq as _;
use tokio::net::TcpListener;
use tonic::metadata::MetadataValue;
use tonic::service::Routes;
use tonic::transport::ClientTlsConfig;
use tonic::{Request, Response, Status, Streaming};

use super::cache::Counting;
use super::channel::{Authorized, channel};
use super::config::{Listen, StartError};
use crate::cache::Cache;
use crate::server::{Certificate, connections, tls};

/// The connections to other workers, and the key for them. Clones share both.
#[derive(Debug, Clone)]
pub(super) struct Peers {
    /// The certificates of theirs that are trusted.
    trust: ClientTlsConfig,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    /// The coordinator's key; empty before it has sent it.
    key: String,
    channels: HashMap<String, Authorized>,
}

/// The most connections that are kept.
const MOST: usize = 256;

impl Peers {
    pub(super) fn new(trust: ClientTlsConfig) -> Self {
        Self {
            trust,
            shared: Arc::default(),
        }
    }

    /// Sets the key that workers show each other from now on.
    pub(super) fn set_key(&self, key: String) {
        let mut shared = lock(&self.shared);
        if shared.key != key {
            *shared = Shared {
                key,
                channels: HashMap::new(),
            };
        }
    }

    pub(super) fn channel(&self, address: &str) -> Result<Authorized, String> {
        let mut shared = lock(&self.shared);
        if let Some(channel) = shared.channels.get(address) {
            return Ok(channel.clone());
        }
        if shared.channels.len() == MOST {
            shared.channels.clear();
        }
        let channel = channel(address, Some(&shared.key), &self.trust)?;
        shared.channels.insert(address.to_owned(), channel.clone());
        Ok(channel)
    }

    /// Checks that the request comes from another worker.
    pub(super) fn check<T>(&self, request: &Request<T>) -> Result<(), Status> {
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

/// Serves this worker's blobs to others.
#[derive(Debug, Clone)]
pub(super) struct Serving {
    pub(super) cache: Cache,
    pub(super) peers: Peers,
    pub(super) counting: Counting,
}

/// A running server of blobs.
pub(super) struct Served {
    /// The address it listens on.
    pub(super) at: SocketAddr,
    /// The name of the address for others.
    pub(super) address: String,
    pub(super) serving: connections::Serving,
}

impl Serving {
    /// Starts a server.
    pub(super) async fn start(
        self,
        listen: &Listen,
        certificate: Option<&Certificate>,
    ) -> Result<Served, StartError> {
        let tls = certificate.map(tls::acceptor).transpose()?;
        let refuse = |error| StartError::Listen(listen.at, error);
        let listener = TcpListener::bind(listen.at).await.map_err(refuse)?;
        let at = listener.local_addr().map_err(refuse)?;
        let address = announced(listen, at, certificate.is_some())?;
        let routes = Routes::new(ByteStreamServer::new(self)).into_axum_router();
        Ok(Served {
            at,
            address,
            serving: connections::Serving::start(listener, tls, routes),
        })
    }
}

/// Names the address for others: the scheme says whether to use TLS.
fn announced(listen: &Listen, at: SocketAddr, encrypted: bool) -> Result<String, StartError> {
    let scheme = if encrypted { "https" } else { "http" };
    let bound = format!("{scheme}://{at}");
    let address = listen.address.as_ref().unwrap_or(&bound);
    let refuse = |why| StartError::Address {
        address: address.clone(),
        why,
    };
    if listen.address.is_none() && at.ip().is_unspecified() {
        let all = "that is each address of this machine; --address has to say one";
        return Err(refuse(all));
    }
    let uri: Option<Uri> = address.parse().ok();
    match (uri.as_ref().and_then(Uri::scheme_str), encrypted) {
        (Some("https"), true) | (Some("http"), false) => Ok(address.clone()),
        (Some("https"), false) => Err(refuse("https needs a certificate")),
        (_, true) => Err(refuse("with a certificate, it has to begin with https://")),
        (_, false) => Err(refuse("it has to begin with http://")),
    }
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
        lock(&self.counting).served += 1;
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
