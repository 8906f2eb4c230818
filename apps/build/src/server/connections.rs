//! Accepts connections until the server ends.

use std::io::{self, Cursor};
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, join, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// The time limit for TLS to be agreed on, and for the head of a request to come.
const PATIENCE: Duration = Duration::from_secs(20);

/// The first bytes of HTTP/2. Until a client has sent them, or others, nothing else limits the wait
/// for it.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A server that runs. Dropping this does not end it.
#[derive(Debug)]
pub(crate) struct Serving {
    stopping: CancellationToken,
    cut: CancellationToken,
    ended: JoinHandle<()>,
}

impl Serving {
    /// Begins to serve, with TLS if wanted.
    pub(crate) fn start(listener: TcpListener, tls: Option<TlsAcceptor>, routes: Router) -> Self {
        let (stopping, cut) = (CancellationToken::new(), CancellationToken::new());
        let served = serve(listener, tls, routes, stopping.clone(), cut.clone());
        Self {
            stopping,
            cut,
            ended: tokio::spawn(served),
        }
    }

    /// Takes no new connections; lets running requests go on until they end, or until that time.
    pub(crate) async fn end(mut self, end: Instant) {
        self.stopping.cancel();
        // It ends by a panic or by itself.
        if timeout_at(end, &mut self.ended).await.is_err() {
            tracing::warn!("requests that still ran are cut off");
            self.cut.cancel();
            let _ = self.ended.await;
        }
    }
}

/// Accepts connections until `stopping`; then lets running requests end, or cuts them at `cut`.
async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    routes: Router,
    stopping: CancellationToken,
    cut: CancellationToken,
) {
    let graceful = GracefulShutdown::new();
    while let Some(accepted) = stopping.run_until_cancelled(listener.accept()).await {
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Most often because too many files are open: some of them close.
                tracing::warn!(%error, "no connection could be taken");
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let connection = Connection {
            routes: routes.clone(),
            watcher: graceful.watcher(),
        };
        let (tls, cut) = (tls.clone(), cut.clone());
        tokio::spawn(async move {
            cut.run_until_cancelled(connection.accept(stream, tls))
                .await;
        });
    }
    drop(listener);
    cut.run_until_cancelled(graceful.shutdown()).await;
}

struct Connection {
    routes: Router,
    watcher: Watcher,
}

impl Connection {
    async fn accept(self, stream: TcpStream, tls: Option<TlsAcceptor>) {
        // Answers are small, and somebody waits for them.
        if stream.set_nodelay(true).is_err() {
            return;
        }
        let Some(tls) = tls else {
            return self.serve(stream.into_split()).await;
        };
        match timeout(PATIENCE, tls.accept(stream)).await {
            Ok(Ok(stream)) => self.serve(split(stream)).await,
            Ok(Err(error)) => tracing::debug!(%error, "no TLS with a client"),
            Err(_) => tracing::debug!("a client that says nothing of TLS"),
        }
    }

    async fn serve<R, W>(self, (read, write): (R, W))
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let mut builder = Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(PATIENCE);
        builder
            .http2()
            .timer(TokioTimer::new())
            .initial_stream_window_size(2 << 20)
            .initial_connection_window_size(8 << 20)
            .max_concurrent_streams(256)
            // So that a client whose machine is gone is noticed.
            .keep_alive_interval(Duration::from_secs(30))
            .keep_alive_timeout(PATIENCE);
        let service = TowerToHyperService::new(self.routes);
        let stream = match timeout(PATIENCE, begun(read)).await {
            Ok(Ok(read)) => TokioIo::new(join(read, write)),
            Ok(Err(error)) => return tracing::debug!(%error, "a client that has gone"),
            Err(_) => return tracing::debug!("a client that says nothing"),
        };
        let connection = builder.serve_connection(stream, service);
        let connection = connection.into_owned();
        if let Err(error) = self.watcher.watch(connection).await {
            tracing::debug!(error, "a connection ended");
        }
    }
}

/// Waits until a client has said which HTTP it speaks; returns what it sends, from the beginning.
async fn begun<R: AsyncRead + Unpin>(mut read: R) -> io::Result<impl AsyncRead + Unpin> {
    let mut first = Vec::with_capacity(PREFACE.len());
    while first.len() < PREFACE.len()
        && PREFACE.starts_with(&first)
        && read.read_buf(&mut first).await? > 0
    {}
    Ok(Cursor::new(first).chain(read))
}
