//! Storage behind TLS: the system must trust its certificate.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use super::redis::Redis;
use super::s3::{KEYS, S3};
use crate::server::{refusal, start_separately};

/// Takes TLS off connections, and passes their bytes to connections that `connect` makes. Returns
/// the port, and the certificate to be trusted.
async fn front<B, C>(folder: &Path, connect: impl Fn() -> C + Send + 'static) -> (u16, PathBuf)
where
    C: Future<Output = io::Result<B>> + Send + 'static,
    B: AsyncRead + AsyncWrite + Unpin + Send,
{
    let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let trusted = folder.join("trusted");
    fs::write(&trusted, signed.cert.pem()).unwrap();
    let key = PrivateKeyDer::try_from(signed.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![signed.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (accepted, behind) = (acceptor.accept(stream), connect());
            tokio::spawn(async move {
                let (mut stream, mut behind) = (accepted.await?, behind.await?);
                copy_bidirectional(&mut stream, &mut behind).await
            });
        }
    });
    (port, trusted)
}

/// Checks that a storage is used if its certificate is trusted, and refused otherwise.
async fn is_trusted_by_its_certificate(storage: &str, trusted: &Path) {
    let [key, secret] = KEYS;
    let trusted = ("SSL_CERT_FILE", trusted.to_str().unwrap());
    let server = start_separately(storage, &[key, secret, trusted]).await;
    let digest = server.store(b"small").await;
    assert_eq!(server.read(digest).await.unwrap(), b"small");
    let said = refusal(storage, &KEYS).await;
    assert!(said.contains("cannot be used"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

#[tokio::test]
async fn s3_is_trusted_by_its_certificate() {
    let Some(s3) = S3::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let plain = s3.port;
    let connect = move || TcpStream::connect(("127.0.0.1", plain));
    let (port, trusted) = front(folder.path(), connect).await;
    let storage = format!("s3://cache?endpoint=https://localhost:{port}&region=a");
    is_trusted_by_its_certificate(&storage, &trusted).await;
}

#[tokio::test]
async fn redis_is_trusted_by_its_certificate() {
    let Some(redis) = Redis::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let socket = redis.socket.clone();
    let (port, trusted) = front(folder.path(), move || UnixStream::connect(socket.clone())).await;
    is_trusted_by_its_certificate(&format!("rediss://localhost:{port}"), &trusted).await;
}
