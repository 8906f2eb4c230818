//! The settings of a worker.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use tonic::Status;

use crate::server::{Certificate, NotACertificate, NotATokenFile};
use crate::storage::StorageError;
use crate::worker::Limits;

/// The settings of a worker.
#[derive(Debug, Clone)]
pub struct WorkerConfig {
    /// The coordinator's address: `http://HOST:PORT`, or `https` for TLS.
    pub coordinator: String,
    /// The token for the coordinator.
    pub token: Option<String>,
    /// A file in the PEM format: the certificates that have signed those of the coordinator and of
    /// other workers. Without one, those that the system trusts.
    pub authority: Option<PathBuf>,
    /// The instance of the coordinator.
    pub instance: String,
    /// Its name, for people.
    pub name: String,
    /// The actions that it runs at a time.
    pub slots: u32,
    /// The folder for its cache, and for the folders of actions.
    pub folder: PathBuf,
    /// The most bytes of blobs that it keeps.
    pub cache_limit: u64,
    /// The settings for serving its blobs to other workers; without them, it serves none.
    pub listen: Option<Listen>,
    /// The limits of an action.
    pub limits: Limits,
}

/// The settings of a worker that serves its blobs to other workers.
///
/// Workers show each other a key of the coordinator, which gives access to all their blobs and to
/// nothing else. Without TLS, the key and the blobs are plain text on the network; a worker whose
/// coordinator has TLS then warns when it starts.
#[derive(Debug, Clone)]
pub struct Listen {
    /// The address; port 0 is any free one.
    pub at: SocketAddr,
    /// The name of that address for others, if it is not the address itself: `http://HOST:PORT`, or
    /// `https` with a certificate. It is needed if `at` is every address of the machine.
    pub address: Option<String>,
    /// The certificate for TLS, which must name the host in the address; without it, no TLS.
    pub certificate: Option<Certificate>,
}

/// The reason that a worker does not start, or does not go on.
#[derive(Debug)]
pub enum StartError {
    /// The coordinator's address or the token is invalid, or the system trusts no certificate.
    Coordinator(String),
    /// A certificate, its key or an authority cannot be used.
    Certificate(NotACertificate),
    /// The token file contains no token.
    Token(NotATokenFile),
    /// The cache cannot be used.
    Cache(StorageError),
    /// The folder for actions cannot be made.
    Folder(io::Error),
    /// It cannot listen there.
    Listen(SocketAddr, io::Error),
    /// Others cannot read its blobs at the address that it would tell them.
    Address {
        /// The address.
        address: String,
        /// The reason.
        why: &'static str,
    },
    /// The coordinator refuses this worker.
    Refused(Status),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Coordinator(why) => write!(f, "the coordinator cannot be reached: {why}"),
            Self::Certificate(error) => error.fmt(f),
            Self::Token(error) => error.fmt(f),
            Self::Cache(error) => write!(f, "the cache cannot be used: {error}"),
            Self::Folder(error) => write!(f, "there is no folder for actions: {error}"),
            Self::Listen(address, error) => write!(f, "cannot listen on {address}: {error}"),
            Self::Address { address, why } => {
                write!(f, "other workers cannot read blobs at {address}: {why}")
            }
            Self::Refused(status) => {
                write!(
                    f,
                    "the coordinator refuses this worker: {}",
                    status.message()
                )
            }
        }
    }
}

impl std::error::Error for StartError {}

impl From<NotACertificate> for StartError {
    fn from(error: NotACertificate) -> Self {
        Self::Certificate(error)
    }
}
