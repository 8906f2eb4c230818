//! Counters of the storage.

use prometheus_client::metrics::counter::Counter;

/// Counters of the storage. Clones count together.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    /// Blobs that somebody asked for and that were there.
    pub blob_hits: Counter,
    /// Blobs that somebody asked for and that were not there.
    pub blob_misses: Counter,
    /// Blobs that were stored.
    pub blobs_written: Counter,
    /// Bytes of these.
    pub bytes_written: Counter,
    /// Bytes of blobs that were read.
    pub bytes_read: Counter,
    /// Blobs that were read and had other bytes than their digest says.
    pub corrupt: Counter,
    /// Results that somebody asked for and that were there, with all of their blobs.
    pub result_hits: Counter,
    /// Results that somebody asked for and that were missing, or some of whose blobs were.
    pub result_misses: Counter,
}
