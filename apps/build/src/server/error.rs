//! Errors at the start of a server.

use std::io;
use std::net::SocketAddr;

use thiserror::Error;

use super::tls::NotACertificate;
use crate::storage::{Location, StorageError};

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
