//! The options of `filch-build worker`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::config::{Listen, StartError, WorkerConfig};
use crate::server::{Certificate, Tokens, size};
use crate::worker::Limits;

/// The options of `filch-build worker`.
#[derive(Debug, Clone, Args)]
pub struct WorkerArguments {
    /// The coordinator, as `http://HOST:PORT`, or `https` for TLS
    #[arg(long, value_name = "URL")]
    coordinator: String,
    /// A folder that only this worker uses: for its cache, and for the actions that it runs
    #[arg(long, value_name = "FOLDER")]
    cache: PathBuf,
    /// The most that the cache may take of the disk, as 500M or 10G
    #[arg(long, value_name = "SIZE", default_value = "10G", value_parser = size)]
    cache_limit: u64,
    /// The number of actions that run at a time; by default, as many as there are processors
    #[arg(long, value_name = "COUNT")]
    slots: Option<u32>,
    /// The address on which other workers read its blobs: without it, they cannot
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// The name of that address for other workers, if it is not the address itself:
    /// `http://HOST:PORT`, or `https` with a certificate; needed with `--listen 0.0.0.0:PORT`
    #[arg(long, value_name = "URL", requires = "listen")]
    address: Option<String>,
    /// The certificate that other workers see, in the PEM format: switches TLS on for them
    #[arg(long, value_name = "FILE", requires_all = ["tls_key", "listen"])]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in the PEM format
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// The worker's name, for people; by default, its process id
    #[arg(long)]
    name: Option<String>,
    /// The name of the coordinator's instance
    #[arg(long, value_name = "NAME", default_value = "")]
    instance: String,
    /// A file with the token that the coordinator wants
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The certificate that signed those of the coordinator and of other workers, in the PEM
    /// format; without it, those that the system trusts
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// The most seconds that an action may run, whatever its own limit is
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    time_limit: u64,
}

impl WorkerArguments {
    /// Makes the worker's settings of them.
    ///
    /// # Errors
    /// If a file cannot be read, or has no token.
    pub fn config(self) -> Result<WorkerConfig, StartError> {
        let token = match &self.token_file {
            Some(file) => Some(Tokens::line(file).map_err(StartError::Token)?),
            None => None,
        };
        let certificate = match (self.tls_cert, self.tls_key) {
            (Some(chain), Some(key)) => Some(Certificate { chain, key }),
            _ => None,
        };
        let (address, listen) = (self.address, self.listen);
        let listen = listen.map(|at| Listen {
            at,
            address,
            certificate,
        });
        let processors = std::thread::available_parallelism();
        let processors = processors.map_or(1, |count| u32::try_from(count.get()).unwrap_or(1));
        let unnamed = || format!("worker-{}", std::process::id());
        Ok(WorkerConfig {
            coordinator: self.coordinator,
            token,
            authority: self.tls_ca,
            instance: self.instance,
            name: self.name.unwrap_or_else(unnamed),
            slots: self.slots.unwrap_or(processors),
            folder: self.cache,
            cache_limit: self.cache_limit,
            listen,
            limits: Limits {
                time: Duration::from_secs(self.time_limit),
                ..Limits::default()
            },
        })
    }
}
