//! The limits of an action.

use std::time::Duration;

/// The limits of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The most time that it may run, whatever its own time limit says.
    pub time: Duration,
    /// The most bytes of its standard output, and of its standard error.
    pub stream: u64,
    /// The most files, folders and symbolic links among its inputs.
    pub input_nodes: usize,
    /// The most bytes of its inputs.
    pub input_bytes: u64,
    /// The most files, folders and symbolic links among its outputs.
    pub output_nodes: usize,
    /// The most bytes of its outputs.
    pub output_bytes: u64,
}

impl Default for Limits {
    /// An hour; 16 MiB of output; inputs: 1 000 000 nodes, 16 GiB; outputs: 100 000 nodes, 4 GiB.
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
