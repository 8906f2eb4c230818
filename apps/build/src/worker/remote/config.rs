//! The settings of a worker.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use thiserror::Error;
use tonic::Status;

use crate::options::size;
use crate::server::{Certificate, NotACertificate, Tokens};
use crate::storage::StorageError;
use crate::worker::Limits;

/// The settings of a worker: the options of `filch-build worker`.
#[derive(Debug, Clone, Args)]
#[command(mut_group("Certificate", |group| group.requires("at")))]
pub struct WorkerConfig {
    /// The coordinator, as `http://HOST:PORT`, or `https` for TLS
    #[arg(long, value_name = "URL")]
    pub coordinator: String,
    /// A file with the token that the coordinator wants
    #[arg(long = "token-file", value_name = "FILE", value_parser = Tokens::line)]
    pub token: Option<String>,
    /// The certificate that signed those of the coordinator and of other workers, in the PEM
    /// format; without it, those that the system trusts
    #[arg(long = "tls-ca", value_name = "FILE")]
    pub authority: Option<PathBuf>,
    /// The name of the coordinator's instance
    #[arg(long, value_name = "NAME", default_value = "")]
    pub instance: String,
    /// The worker's name, for people; by default, its process id
    #[arg(long, hide_default_value = true)]
    #[arg(default_value_t = format!("worker-{}", std::process::id()))]
    pub name: String,
    /// The number of actions that run at a time; by default, as many as there are processors
    #[arg(long, value_name = "COUNT", hide_default_value = true, default_value_t = processors())]
    pub slots: u32,
    /// A folder that only this worker uses: for its cache, and for the actions that it runs
    #[arg(long = "cache", value_name = "FOLDER")]
    pub folder: PathBuf,
    /// The most that the cache may take of the disk, as 500M or 10G
    #[arg(long, value_name = "SIZE", default_value = "10G", value_parser = size)]
    pub cache_limit: u64,
    /// The settings for serving its blobs to other workers; without them, it serves none.
    #[command(flatten)]
    pub listen: Option<Listen>,
    /// The certificate for TLS with other workers, which must name the host in the address; without
    /// it, no TLS.
    #[command(flatten)]
    pub certificate: Option<Certificate>,
    /// The limits of an action.
    #[command(flatten)]
    pub limits: Limits,
}

/// The settings of a worker that serves its blobs to other workers.
///
/// Workers show each other a key of the coordinator, which gives access to all their blobs and to
/// nothing else. Without TLS, the key and the blobs are plain text on the network; a worker whose
/// coordinator has TLS then warns when it starts.
#[derive(Debug, Clone, Args)]
pub struct Listen {
    /// The address on which other workers read its blobs: without it, they cannot; port 0 is any
    /// free one
    #[arg(long = "listen", value_name = "ADDRESS:PORT", required = false)]
    pub at: SocketAddr,
    /// The name of that address for other workers, if it is not the address itself:
    /// `http://HOST:PORT`, or `https` with a certificate; needed with `--listen 0.0.0.0:PORT`
    #[arg(long, value_name = "URL", requires = "at")]
    pub address: Option<String>,
}

fn processors() -> u32 {
    let processors = std::thread::available_parallelism();
    processors.map_or(1, |count| u32::try_from(count.get()).unwrap_or(1))
}

/// The reason that a worker does not start, or does not go on.
#[derive(Debug, Error)]
pub enum StartError {
    /// The coordinator's address or the token is invalid, or the system trusts no certificate.
    #[error("the coordinator cannot be reached: {0}")]
    Coordinator(String),
    /// A certificate, its key or an authority cannot be used.
    #[error(transparent)]
    Certificate(#[from] NotACertificate),
    /// The cache cannot be used.
    #[error("the cache cannot be used: {0}")]
    Cache(StorageError),
    /// The folder for actions cannot be made.
    #[error("there is no folder for actions: {0}")]
    Folder(io::Error),
    /// It cannot listen there.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, io::Error),
    /// Others cannot read its blobs at the address that it would tell them.
    #[error("other workers cannot read blobs at {address}: {why}")]
    Address {
        /// The address.
        address: String,
        /// The reason.
        why: &'static str,
    },
    /// The coordinator refuses this worker.
    #[error("the coordinator refuses this worker: {}", .0.message())]
    Refused(Status),
}
