//! Counts the blobs that come and go.

use std::sync::{Arc, Mutex};

/// Blobs that have come and gone since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Blobs that were there when an action needed them.
    pub hits: u64,
    /// Blobs that came from other workers.
    pub from_workers: u64,
    /// Blobs that came from the coordinator.
    pub from_coordinator: u64,
    /// Times that another worker lacked a blob that it was said to have.
    pub failed: u64,
    /// Blobs that were given to other workers.
    pub served: u64,
}

pub(super) type Counting = Arc<Mutex<Traffic>>;
