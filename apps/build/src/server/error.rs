//! Errors at the start of a server.

use std::net::SocketAddr;
use std::{fmt, io};

use super::auth::NotATokenFile;
use super::tls::NotACertificate;
use crate::storage::{Location, StorageError};

/// The reason that a server does not start.
#[derive(Debug)]
pub enum StartError {
    /// The storage cannot be used.
    Storage {
        /// The storage.
        location: Location,
        /// The error.
        error: Box<StorageError>,
    },
    /// It cannot listen there: most often, another process does.
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error.
        error: io::Error,
    },
    /// The farm's timers cannot be started.
    Farm(io::Error),
    /// A token file contains no token.
    Token(NotATokenFile),
    /// The certificate or its key cannot be used.
    Certificate(NotACertificate),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Storage { location, error } => {
                write!(f, "the storage {location} cannot be used: {error}")
            }
            Self::Listen { address, error } => write!(f, "cannot listen on {address}: {error}"),
            Self::Farm(error) => write!(f, "the farm cannot be started: {error}"),
            Self::Token(error) => error.fmt(f),
            Self::Certificate(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StartError {}

impl From<NotATokenFile> for StartError {
    fn from(error: NotATokenFile) -> Self {
        Self::Token(error)
    }
}

impl From<NotACertificate> for StartError {
    fn from(error: NotACertificate) -> Self {
        Self::Certificate(error)
    }
}
