//! The settings of a worker.

use std::env::consts::{ARCH, OS};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::{fs, io};

use clap::Args;
use thiserror::Error;
use tonic::Status;

use crate::options::{property, size};
use crate::protocol::Property;
use crate::server::{Certificate, NotACertificate};
use crate::storage::StorageError;
use crate::worker::{Limits, NoSandbox, SandboxOptions};

/// The settings of a worker: the options of `filch-build worker`.
#[derive(Debug, Clone, Args)]
#[command(mut_group("Certificate", |group| group.requires("at")))]
pub struct WorkerConfig {
    /// The coordinator, as `http://HOST:PORT`, or `https` for TLS
    #[arg(long, value_name = "URL")]
    pub coordinator: String,
    /// A file with the token that the coordinator wants
    #[arg(long = "token-file", value_name = "FILE")]
    pub token: Option<PathBuf>,
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
    /// A property of its platform: it gets the actions that ask for no others. May be given several
    /// times. `OSFamily` and `ISA` are this machine's unless given
    #[arg(long = "property", value_name = "NAME=VALUE", value_parser = property)]
    pub properties: Vec<(String, String)>,
    /// The CPUs that its actions share, of which each takes one if it does not ask for more: at
    /// least one for each slot; by default, this machine's
    #[arg(long, value_name = "COUNT", hide_default_value = true, default_value_t = processors())]
    pub cpus: u32,
    /// The memory that its actions share, as 16G: each takes what it asks for; by default, this
    /// machine's
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,
    /// A folder that only this worker uses: for its cache, and for the actions that it runs
    #[arg(long = "cache", value_name = "FOLDER")]
    pub folder: PathBuf,
    /// The most that the cache may take of the disk, as 500M or 10G
    #[arg(long, value_name = "SIZE", default_value = "10G", value_parser = size)]
    pub cache_limit: u64,
    /// The space that stays free on the disk: the cache forgets before there is less
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = size)]
    pub disk_reserve: u64,
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
    /// The sandbox of an action.
    #[command(flatten)]
    pub sandbox: SandboxOptions,
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

impl WorkerConfig {
    /// Returns the properties that the worker announces.
    pub(super) fn platform(&self) -> Vec<Property> {
        let isa = match ARCH {
            "x86" => "x86-32",
            "x86_64" => "x86-64",
            "arm" => "arm-a32",
            "aarch64" => "arm-a64",
            other => other,
        };
        let mut properties = self.properties.clone();
        for (name, value) in [("OSFamily", OS), ("ISA", isa)] {
            if !self.properties.iter().any(|(given, _)| given == name) {
                properties.push((name.to_owned(), value.to_owned()));
            }
        }
        let property = |(name, value)| Property { name, value };
        properties.into_iter().map(property).collect()
    }

    /// Returns the memory that the worker announces; 0 if it is not known.
    pub(super) fn memory(&self) -> u64 {
        self.memory.or_else(machines_memory).unwrap_or(0)
    }
}

/// Returns this machine's memory, or as much of it as this container may use. Sixteenths of its
/// leading power of two are left out, so that similar machines are of one kind.
fn machines_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let total = text.strip_prefix("MemTotal:")?;
    let kilobytes: u64 = total.split_whitespace().next()?.parse().ok()?;
    let limit = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let limit = limit.and_then(|text| text.trim().parse().ok());
    let memory = limit.unwrap_or(u64::MAX).min(kilobytes << 10);
    let step = memory.checked_ilog2()?.saturating_sub(4);
    Some(memory >> step << step)
}

/// The reason that a worker does not start, or does not go on.
#[derive(Debug, Error)]
pub enum StartError {
    /// The coordinator's address or the token is invalid, or the system trusts no certificate.
    #[error("the coordinator cannot be reached: {0}")]
    Coordinator(String),
    /// The file with the token cannot be used.
    #[error("there is no token in {}: {why}", .file.display())]
    Token {
        /// The file.
        file: PathBuf,
        /// The reason.
        why: String,
    },
    /// A certificate, its key or an authority cannot be used.
    #[error(transparent)]
    Certificate(#[from] NotACertificate),
    /// The cache cannot be used.
    #[error("the cache cannot be used: {0}")]
    Cache(StorageError),
    /// The folder for actions cannot be made.
    #[error("there is no folder for actions: {0}")]
    Folder(io::Error),
    /// Actions cannot get a sandbox.
    #[error(transparent)]
    Sandbox(#[from] NoSandbox),
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
