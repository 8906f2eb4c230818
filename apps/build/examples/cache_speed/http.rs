//! A client that speaks HTTP: the same for both servers.

use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::{Blobs, CONNECTIONS, Result};

/// Puts or gets blobs, by a few connections, each with one request at a time.
pub(crate) async fn all(address: SocketAddr, method: &'static str, blobs: &Blobs) -> Result<()> {
    let connections: Vec<_> = (0..CONNECTIONS)
        .map(|first| tokio::spawn(every(first, address, method, blobs.clone())))
        .collect();
    for connection in connections {
        connection.await??;
    }
    Ok(())
}

async fn every(first: usize, address: SocketAddr, method: &str, blobs: Blobs) -> Result<()> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    for (digest, data) in blobs.iter().skip(first).step_by(CONNECTIONS) {
        let body = if method == "PUT" {
            data.clone()
        } else {
            Bytes::new()
        };
        let request = http::Request::builder()
            .method(method)
            .uri(format!("/cas/{}", digest.hex()))
            .header("host", "localhost")
            .body(Full::new(body))?;
        sender.ready().await?;
        let (head, mut body) = sender.send_request(request).await?.into_parts();
        assert!(head.status.is_success(), "{method}: {}", head.status);
        // Compared piece by piece: holding all in memory would cost the client more than the rest.
        let mut rest = &data[..];
        while let Some(frame) = body.frame().await {
            let Ok(piece) = frame?.into_data() else {
                continue;
            };
            if method == "GET" {
                rest = rest.strip_prefix(&piece[..]).expect("the blob");
            }
        }
        assert!(method == "PUT" || rest.is_empty());
    }
    Ok(())
}
