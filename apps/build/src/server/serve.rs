//! A server that runs, or does not start.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::middleware::from_fn_with_state;
use listenfd::ListenFd;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::time::{Instant, timeout_at};

use super::config::Config;
use super::connections::Serving;
use super::routes::routes;
use super::tls::NotACertificate;
use super::{auth, tls};
use crate::cache::Cache;
use crate::farm::Farm;
use crate::storage::{Location, Storage, StorageError};

/// Starts coordinators as servers.
#[derive(Debug)]
pub struct Server;

impl Server {
    /// Starts one. It answers as soon as this returns. It takes the socket that a service manager
    /// has passed to this process, if any, in place of listening on an address itself.
    ///
    /// # Errors
    /// If it cannot use its storage, its certificate or its address.
    pub async fn start(config: Config) -> Result<Running, StartError> {
        let refuse = |error| StartError::Listen {
            address: config.listen,
            error,
        };
        let passed = ListenFd::from_env().take_tcp_listener(0).map_err(refuse)?;
        let passed_at = passed.as_ref().map(std::net::TcpListener::local_addr);
        let listen = passed_at.unwrap_or(Ok(config.listen)).map_err(refuse)?;
        let is_open = config.tokens.is_none() || config.certificate.is_none();
        if is_open && !listen.ip().is_loopback() && !config.insecure {
            return Err(StartError::Insecure(listen));
        }
        let tls = config.certificate.as_ref().map(tls::acceptor).transpose()?;
        let listener = match passed {
            Some(passed) => passed
                .set_nonblocking(true)
                .and_then(|()| TcpListener::from_std(passed)),
            None => TcpListener::bind(listen).await,
        };
        let listener = listener.map_err(refuse)?;
        let address = listener.local_addr().map_err(refuse)?;
        let storage = Storage::open(&config.storage, config.limits).await;
        let storage = storage.map_err(|error| StartError::Storage {
            location: config.storage.clone(),
            error: Box::new(error),
        })?;
        let instance = config.cache.instance.clone();
        let farm = Farm::start(config.farm, instance, storage.clone());
        let farm = farm.map_err(StartError::Farm)?;
        let cache = Cache::new(storage, config.cache);
        let mut routes = routes(&cache, &farm, config.limits);
        if let Some(tokens) = config.tokens {
            routes = routes.layer(from_fn_with_state(tokens, auth::check));
        }
        Ok(Running {
            address,
            cache,
            farm,
            serving: Serving::start(listener, tls, routes),
            grace: config.grace,
        })
    }
}

/// A running server. Dropping this does not end it.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    cache: Cache,
    farm: Farm,
    serving: Serving,
    grace: Duration,
}

impl Running {
    /// Returns the address it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns its cache.
    pub const fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Returns its farm.
    pub const fn farm(&self) -> &Farm {
        &self.farm
    }

    /// Ends it: it takes no new actions, and when the workers have left, no new connections;
    /// running requests go on until they end, or until their time is over.
    pub async fn shutdown(self) {
        let end = Instant::now() + self.grace;
        self.farm.leave();
        // Workers send their outputs by new requests.
        let _ = timeout_at(end, self.farm.left()).await;
        self.serving.end(end).await;
    }
}

/// The reason that a server does not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The storage cannot be used.
    #[error("the storage {location} cannot be used: {error}")]
    Storage {
        /// The storage.
        location: Location,
        /// The error.
        error: Box<StorageError>,
    },
    /// Others than this machine would reach it without a token, or in plain text.
    #[error(
        "{0} is reached by other machines, so a token (--token-file) and TLS (--tls-cert, \
        --tls-key) are needed; with --insecure it starts without them"
    )]
    Insecure(SocketAddr),
    /// It cannot listen there: most often, another process does.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error.
        error: io::Error,
    },
    /// The farm's timers cannot be started.
    #[error("the farm cannot be started: {0}")]
    Farm(io::Error),
    /// The certificate or its key cannot be used.
    #[error(transparent)]
    Certificate(#[from] NotACertificate),
}
