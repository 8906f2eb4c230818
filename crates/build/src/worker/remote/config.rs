//! What a worker is told when it starts.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use tonic::Status;

use crate::server::NotATokenFile;
use crate::storage::StorageError;
use crate::worker::Limits;

/// What a worker is told when it starts.
#[derive(Debug, Clone)]
pub struct WorkerConfig {
    /// Where the coordinator is: `http://HOST:PORT`, or `https` for TLS.
    pub coordinator: String,
    /// The token that the coordinator wants to see.
    pub token: Option<String>,
    /// The certificate that has signed the coordinator's, in the PEM format; otherwise those of
    /// the system are trusted.
    pub authority: Option<Vec<u8>>,
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
    /// Where it serves its blobs to other workers; port 0 is any free one.
    pub listen: Option<SocketAddr>,
    /// What others call that address, if it is not the address itself: `http://HOST:PORT`.
    pub address: Option<String>,
    /// What an action may take.
    pub limits: Limits,
}

/// Why a worker does not start, or does not go on.
#[derive(Debug)]
pub enum StartError {
    /// The coordinator's address, its certificate or the token is not one.
    Coordinator(String),
    /// The file with the token has none.
    Token(NotATokenFile),
    /// The cache cannot be used.
    Cache(StorageError),
    /// The folder for actions cannot be made.
    Folder(io::Error),
    /// It cannot listen there.
    Listen(SocketAddr, io::Error),
    /// The coordinator does not want this worker.
    Refused(Status),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Coordinator(why) => write!(f, "the coordinator cannot be reached: {why}"),
            Self::Token(error) => error.fmt(f),
            Self::Cache(error) => write!(f, "the cache cannot be used: {error}"),
            Self::Folder(error) => write!(f, "there is no folder for actions: {error}"),
            Self::Listen(address, error) => write!(f, "cannot listen on {address}: {error}"),
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
