//! The settings of a server.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::auth::Tokens;
use crate::cache::CacheConfig;
use crate::farm::FarmConfig;
use crate::options::{defaults, seconds};
use crate::storage::{Limits, Location};

/// The settings of a server: the options of `filch-build serve`.
#[derive(Debug, Clone, Args)]
pub struct Config {
    /// The address to listen on, for gRPC and HTTP together; port 0 is any free one. If systemd
    /// passes a socket, that is taken
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8980")]
    pub listen: SocketAddr,
    /// Listen on an address that others reach though there is no token or no TLS: whoever reaches
    /// it can then read, and perhaps replace, what is built, and run actions
    #[arg(long)]
    pub insecure: bool,
    /// The place of blobs and results: `disk:PATH`, `memory`,
    /// `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`, `rediss://` with TLS,
    /// `redis+unix:///SOCKET` or `s3://BUCKET[/PREFIX][?endpoint=URL&region=NAME]`; the keys of S3
    /// are in the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`
    #[arg(long, value_name = "WHERE", default_value = "disk:filch-cache")]
    pub storage: Location,
    /// The storage's limits.
    #[command(flatten)]
    pub limits: Limits,
    /// The limits of clients in the cache.
    #[command(flatten)]
    pub cache: CacheConfig,
    /// Tokens, one of which every client has to send. Without any, everybody has access.
    #[command(flatten)]
    pub tokens: Option<Tokens>,
    /// The certificate for TLS, if wanted.
    #[command(flatten)]
    pub certificate: Option<Certificate>,
    /// The farm's settings; its instance is the cache's.
    #[command(flatten)]
    pub farm: FarmConfig,
    /// The seconds for which running work may go on after the server was asked to end
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub grace: Duration,
}

/// A certificate, in files in the PEM format.
#[derive(Debug, Clone, Args)]
pub struct Certificate {
    /// The certificate that others see, and those that signed it, in the PEM format: switches TLS
    /// on
    #[arg(
        long = "tls-cert",
        value_name = "FILE",
        required = false,
        requires = "key"
    )]
    pub chain: PathBuf,
    /// The private key of the certificate, in the PEM format
    #[arg(
        long = "tls-key",
        value_name = "FILE",
        required = false,
        requires = "chain"
    )]
    pub key: PathBuf,
}

impl Default for Config {
    /// Memory, a free port of this machine alone, no tokens and no TLS.
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            storage: Location::Memory,
            ..defaults()
        }
    }
}
