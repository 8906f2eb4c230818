//! Certificates for TLS.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use super::config::Certificate;

/// Makes the acceptor that starts TLS on connections.
pub(crate) fn acceptor(certificate: &Certificate) -> Result<TlsAcceptor, NotACertificate> {
    let Certificate { chain, key } = certificate;
    let certificates = certificates(chain)?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(NotACertificate::new(key))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(NotACertificate::new(chain))?
        .with_no_client_auth()
        .with_single_cert(certificates, private)
        .map_err(NotACertificate::new(key))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config).into())
}

/// Reads the authorities in a file.
pub(crate) fn authorities(file: &Path) -> Result<RootCertStore, NotACertificate> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        roots.add(certificate).map_err(NotACertificate::new(file))?;
    }
    Ok(roots)
}

/// Reads the certificates in a file: at least one.
fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, NotACertificate> {
    let certificates = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
    let certificates: Vec<_> = certificates.map_err(NotACertificate::new(file))?;
    if certificates.is_empty() {
        return Err(NotACertificate::new(file)("there is no certificate in it"));
    }
    Ok(certificates)
}

/// A file without a usable certificate or private key, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the certificate cannot be used: {}: {why}", .file.display())]
pub struct NotACertificate {
    file: PathBuf,
    why: String,
}

impl NotACertificate {
    fn new<E: Display>(file: &Path) -> impl Fn(E) -> Self {
        |why| Self {
            file: file.to_owned(),
            why: why.to_string(),
        }
    }
}
