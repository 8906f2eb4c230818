//! What an action may take.

use std::time::Duration;

/// What an action may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run, whatever its own time limit says.
    pub time: Duration,
    /// How many bytes its standard output may have, and its standard error.
    pub stream: u64,
    /// How many files, folders and symbolic links its inputs may have.
    pub input_nodes: usize,
    /// How many bytes its inputs may have.
    pub input_bytes: u64,
    /// How many files, folders and symbolic links its outputs may have.
    pub output_nodes: usize,
    /// How many bytes its outputs may have.
    pub output_bytes: u64,
}

impl Default for Limits {
    /// An hour; 16 MiB; a million nodes of 16 GiB in, 100 000 nodes of 4 GiB out.
    fn default() -> Self {
        Self {
            time: Duration::from_secs(3600),
            stream: 16 << 20,
            input_nodes: 1_000_000,
            input_bytes: 16 << 30,
            output_nodes: 100_000,
            output_bytes: 4 << 30,
        }
    }
}
