//! What storage has done so far.

use prometheus_client::metrics::counter::Counter;

/// What storage has done so far. Clones count together.
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
    /// Blobs whose bytes were not theirs when they were read.
    pub corrupt: Counter,
    /// Results that somebody asked for and that were there, with all of their blobs.
    pub result_hits: Counter,
    /// Results that somebody asked for and that were not there, or not all of their blobs.
    pub result_misses: Counter,
}
