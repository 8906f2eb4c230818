//! Certificates.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::config::Certificate;
use super::error::StartError;

/// What makes TLS of connections.
pub(super) fn acceptor(certificate: &Certificate) -> Result<TlsAcceptor, StartError> {
    let refuse = |file: &Path, why: String| StartError::Certificate {
        file: file.to_owned(),
        why,
    };
    let Certificate { chain, key } = certificate;
    let certificates = CertificateDer::pem_file_iter(chain)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| refuse(chain, error.to_string()))?;
    if certificates.is_empty() {
        return Err(refuse(chain, "there is no certificate in it".into()));
    }
    let private =
        PrivateKeyDer::from_pem_file(key).map_err(|error| refuse(key, error.to_string()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| refuse(chain, error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(certificates, private)
        .map_err(|error| refuse(key, error.to_string()))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config).into())
}
