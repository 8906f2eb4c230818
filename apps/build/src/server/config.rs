//! What a server is told when it starts.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use super::auth::Tokens;
use crate::cache::CacheConfig;
use crate::farm::FarmConfig;
use crate::storage::{Limits, Location};

/// What a server is told when it starts.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where it listens. Port 0 is any free one.
    pub listen: SocketAddr,
    /// Where it keeps what it has.
    pub storage: Location,
    /// How much that may be.
    pub limits: Limits,
    /// What clients may do with the cache.
    pub cache: CacheConfig,
    /// How it runs actions; the instance is that of the cache.
    pub farm: FarmConfig,
    /// Tokens, one of which every client has to send. Without any, everybody may ask.
    pub tokens: Option<Tokens>,
    /// With TLS, if there is one.
    pub certificate: Option<Certificate>,
    /// For so long what runs may go on after the end was asked for.
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
    /// In memory, on a free port of this machine alone, without tokens and without TLS.
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
