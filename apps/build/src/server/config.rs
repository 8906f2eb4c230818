//! The settings of a server.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use super::auth::Tokens;
use crate::cache::CacheConfig;
use crate::farm::FarmConfig;
use crate::storage::{Limits, Location};

/// The settings of a server.
#[derive(Debug, Clone)]
pub struct Config {
    /// The address; port 0 is any free one.
    pub listen: SocketAddr,
    /// The storage.
    pub storage: Location,
    /// The storage's limits.
    pub limits: Limits,
    /// The limits of clients in the cache.
    pub cache: CacheConfig,
    /// The farm's settings; its instance is the cache's.
    pub farm: FarmConfig,
    /// Tokens, one of which every client has to send. Without any, everybody has access.
    pub tokens: Option<Tokens>,
    /// The certificate for TLS, if wanted.
    pub certificate: Option<Certificate>,
    /// The time for which running work may go on after the server was asked to end.
    pub grace: Duration,
}

/// Files in the PEM format.
#[derive(Debug, Clone)]
pub struct Certificate {
    /// The certificate, and those that signed it.
    pub chain: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl Default for Config {
    /// Memory, a free port of this machine alone, no tokens and no TLS.
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            storage: Location::Memory,
            limits: Limits::default(),
            cache: CacheConfig::default(),
            farm: FarmConfig::default(),
            tokens: None,
            certificate: None,
            grace: Duration::from_secs(10),
        }
    }
}
