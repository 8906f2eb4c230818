//! Farms whose certificates are signed by an authority.

use std::path::Path;

use filch_build::server::{self, Certificate, Running, Server};
use filch_build::worker::remote::WorkerConfig;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;
use tonic::transport::{self, Channel, ClientTlsConfig};

use super::peers::impatient;
use super::together::config;
use crate::client::Client;
use crate::program::file;

/// An authority, and the files that it makes.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self {
            issuer: CertifiedIssuer::self_signed(params, key).unwrap(),
            folder: TempDir::new().unwrap(),
        }
    }

    /// Writes the authority's own certificate; returns its path.
    pub(crate) fn file(&self) -> String {
        file(self.folder.path(), "authority", &self.issuer.pem())
    }

    /// Makes a certificate for this machine.
    pub(crate) fn certificate(&self) -> Certificate {
        let hosts = ["localhost", "127.0.0.1"].map(str::to_owned);
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(hosts).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let folder = self.folder.path();
        Certificate {
            chain: file(folder, "certificate", &certificate.pem()).into(),
            key: file(folder, "key", &key.serialize_pem()).into(),
        }
    }

    /// Connects a channel that trusts the authority.
    pub(crate) async fn channel(&self, url: String) -> Channel {
        let trusted = transport::Certificate::from_pem(self.issuer.pem());
        let tls = ClientTlsConfig::new().ca_certificate(trusted);
        let endpoint = Channel::from_shared(url).unwrap().tls_config(tls).unwrap();
        endpoint.connect().await.unwrap()
    }
}

/// A coordinator with a certificate, its client, and the folders of its workers.
pub(crate) struct Encrypted {
    pub(crate) authority: Authority,
    pub(crate) server: Running,
    pub(crate) url: String,
    pub(crate) client: Client,
    folder: TempDir,
}

impl Encrypted {
    pub(crate) async fn new() -> Self {
        let authority = Authority::new();
        let config = server::Config {
            certificate: Some(authority.certificate()),
            farm: impatient(),
            ..server::Config::default()
        };
        let server = Server::start(config).await.unwrap();
        let url = format!("https://localhost:{}", server.address().port());
        let channel = authority.channel(url.clone()).await;
        Self {
            authority,
            server,
            url,
            client: Client { channel },
            folder: TempDir::new().unwrap(),
        }
    }

    /// Returns the folder of the worker of that name.
    pub(crate) fn folder(&self, name: &str) -> Box<Path> {
        self.folder.path().join(name).into()
    }

    /// Configures a worker with that certificate, which trusts the coordinator's authority.
    pub(crate) fn worker(&self, name: &str, certificate: Option<Certificate>) -> WorkerConfig {
        let mut config = config(self.server.address(), name, &self.folder(name));
        config.coordinator = self.url.clone();
        config.authority = Some(self.authority.file().into());
        config.certificate = certificate;
        config
    }
}
