//! The options of `filch-build worker`.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::config::{StartError, WorkerConfig};
use crate::server::{Tokens, size};
use crate::worker::Limits;

/// The options of `filch-build worker`.
#[derive(Debug, Clone, Args)]
pub struct WorkerArguments {
    /// The coordinator, as `http://HOST:PORT`, or `https` for TLS
    #[arg(long, value_name = "URL")]
    coordinator: String,
    /// A folder of this worker alone: for its cache, and for the actions that it runs
    #[arg(long, value_name = "FOLDER")]
    cache: PathBuf,
    /// How much of the disk the cache may take, as 500M or 10G
    #[arg(long, value_name = "SIZE", default_value = "10G", value_parser = size)]
    cache_limit: u64,
    /// How many actions it runs at a time; as many as there are processors, if not said
    #[arg(long, value_name = "COUNT")]
    slots: Option<u32>,
    /// Where other workers read its blobs: without it, they cannot
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// What other workers call that address, if it is not the address itself
    #[arg(long, value_name = "URL", requires = "listen")]
    address: Option<String>,
    /// How it is called, for people; its process's number if not said
    #[arg(long)]
    name: Option<String>,
    /// The name of the coordinator's instance
    #[arg(long, value_name = "NAME", default_value = "")]
    instance: String,
    /// A file with the token that the coordinator wants
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The certificate that signed the coordinator's, in the PEM format
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// How many seconds an action may run, whatever it says itself
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    time_limit: u64,
}

impl WorkerArguments {
    /// What they say.
    ///
    /// # Errors
    /// If a file cannot be read, or has no token.
    pub fn config(self) -> Result<WorkerConfig, StartError> {
        let token = match &self.token_file {
            Some(file) => Some(Tokens::line(file).map_err(StartError::Token)?),
            None => None,
        };
        let authority = match &self.tls_ca {
            Some(file) => {
                let read = fs::read(file);
                Some(read.map_err(|error| {
                    StartError::Coordinator(format!("{}: {error}", file.display()))
                })?)
            }
            None => None,
        };
        let processors = std::thread::available_parallelism();
        let processors = processors.map_or(1, |count| u32::try_from(count.get()).unwrap_or(1));
        let unnamed = || format!("worker-{}", std::process::id());
        Ok(WorkerConfig {
            coordinator: self.coordinator,
            token,
            authority,
            instance: self.instance,
            name: self.name.unwrap_or_else(unnamed),
            slots: self.slots.unwrap_or(processors),
            folder: self.cache,
            cache_limit: self.cache_limit,
            listen: self.listen,
            address: self.address,
            limits: Limits {
                time: Duration::from_secs(self.time_limit),
                ..Limits::default()
            },
        })
    }
}
