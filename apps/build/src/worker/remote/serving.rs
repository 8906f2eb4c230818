//! Serves this worker's blobs to other workers.

use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::time::Duration;

use axum::Router;
use bazel_remote_apis::google::bytestream::byte_stream_server::{ByteStream, ByteStreamServer};
use bazel_remote_apis::google::bytestream::{
    QueryWriteStatusRequest, QueryWriteStatusResponse, ReadRequest, ReadResponse, WriteRequest,
    WriteResponse,
};
use futures_util::Stream;
use http::Uri;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic::{Request, Response, Status, Streaming};

use super::config::{Listen, StartError};
use super::peers::Peers;
use super::traffic::Counting;
use crate::cache::Cache;
use crate::server::{connections, tls};

/// The time that the last fetches have when a worker ends.
const LAST_FETCHES: Duration = Duration::from_secs(2);

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
    pub(super) ended: JoinHandle<()>,
}

impl Serving {
    /// Serves until `closing`.
    pub(super) async fn start(
        self,
        listen: &Listen,
        closing: CancellationToken,
    ) -> Result<Served, StartError> {
        let tls = listen.certificate.as_ref().map(tls::acceptor).transpose()?;
        let refuse = |error| StartError::Listen(listen.at, error);
        let listener = TcpListener::bind(listen.at).await.map_err(refuse)?;
        let at = listener.local_addr().map_err(refuse)?;
        let address = announced(listen, at)?;
        let routes = Routes::new(ByteStreamServer::new(self)).into_axum_router();
        Ok(Served {
            at,
            address,
            ended: tokio::spawn(serve(listener, tls, routes, closing)),
        })
    }
}

/// Serves until `closing`, and then as long as the last fetches may take.
async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    routes: Router,
    closing: CancellationToken,
) {
    let cut = CancellationToken::new();
    let serving = connections::serve(listener, tls, routes, closing.clone(), cut.clone());
    let mut serving = pin!(serving);
    let too_late = async {
        closing.cancelled().await;
        sleep(LAST_FETCHES).await;
    };
    tokio::select! {
        () = &mut serving => return,
        () = too_late => cut.cancel(),
    }
    serving.await;
}

/// Names the address for others: the scheme says whether to use TLS.
fn announced(listen: &Listen, at: SocketAddr) -> Result<String, StartError> {
    let encrypted = listen.certificate.is_some();
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
