//! The limits of an action.

use std::time::Duration;

use clap::Args;

use crate::options::{defaults, seconds};

/// The limits of an action.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Limits {
    /// The most seconds that an action may run, whatever its own limit is
    #[arg(long = "time-limit", value_name = "SECONDS", default_value = "3600")]
    #[arg(value_parser = seconds)]
    pub time: Duration,
    /// The most bytes of its standard output, and of its standard error: 16 MiB by default.
    #[arg(skip = 16_u64 << 20)]
    pub stream: u64,
    /// The most files, folders and symbolic links among its inputs.
    #[arg(skip = 1_000_000_usize)]
    pub input_nodes: usize,
    /// The most bytes of its inputs: 16 GiB by default.
    #[arg(skip = 16_u64 << 30)]
    pub input_bytes: u64,
    /// The most files, folders and symbolic links among its outputs.
    #[arg(skip = 100_000_usize)]
    pub output_nodes: usize,
    /// The most bytes of its outputs: 4 GiB by default.
    #[arg(skip = 4_u64 << 30)]
    pub output_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        defaults()
    }
}
