//! What a worker is told when it starts.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use tonic::Status;

use crate::server::{Certificate, NotACertificate, NotATokenFile};
use crate::storage::StorageError;
use crate::worker::Limits;

/// What a worker is told when it starts.
#[derive(Debug, Clone)]
pub struct WorkerConfig {
    /// Where the coordinator is: `http://HOST:PORT`, or `https` for TLS.
    pub coordinator: String,
    /// The token that the coordinator wants to see.
    pub token: Option<String>,
    /// The certificates that have signed those of the coordinator and of other workers: a file in
    /// the PEM format. Without one, those that the system trusts.
    pub authority: Option<PathBuf>,
    /// The instance of the coordinator.
    pub instance: String,
    /// How it is called, for people.
    pub name: String,
    /// How many actions it runs at a time.
    pub slots: u32,
    /// The folder for what it has, and for the folders of actions.
    pub folder: PathBuf,
    /// How many bytes of blobs it keeps.
    pub cache_limit: u64,
    /// How it serves its blobs to other workers; without that, they get them elsewhere.
    pub listen: Option<Listen>,
    /// What an action may take.
    pub limits: Limits,
}

/// How a worker serves its blobs to other workers.
///
/// Workers show each other a key of the coordinator's, with which all of them serve all of their
/// blobs, and nothing else. Without TLS that key and the blobs are plain text on the network; a
/// worker whose coordinator has TLS warns of that when it starts.
#[derive(Debug, Clone)]
pub struct Listen {
    /// Where it listens. Port 0 is any free one.
    pub at: SocketAddr,
    /// What others call that address, if it is not the address itself: `http://HOST:PORT`, or
    /// `https` if there is a certificate. It is needed where `at` is each address of the machine.
    pub address: Option<String>,
    /// With TLS, if there is one. It has to be one for the host that others call.
    pub certificate: Option<Certificate>,
}

/// Why a worker does not start, or does not go on.
#[derive(Debug)]
pub enum StartError {
    /// The coordinator's address or the token is not one, or the system trusts no certificate.
    Coordinator(String),
    /// A certificate, its key or an authority cannot be used.
    Certificate(NotACertificate),
    /// The file with the token has none.
    Token(NotATokenFile),
    /// The cache cannot be used.
    Cache(StorageError),
    /// The folder for actions cannot be made.
    Folder(io::Error),
    /// It cannot listen there.
    Listen(SocketAddr, io::Error),
    /// Others cannot read its blobs at the address that it would tell them.
    Address {
        /// Which one.
        address: String,
        /// Why.
        why: &'static str,
    },
    /// The coordinator does not want this worker.
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
