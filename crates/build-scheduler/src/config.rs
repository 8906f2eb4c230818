//! The configuration of a scheduler before it starts.

use std::time::Duration;

/// The time that a job is kept for workers near to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// The time that a job waits for a worker with its own result in the cache. One second by
    /// default.
    pub cache_timeout: Duration,
    /// The time that it then waits for a worker with one of its dependencies, before any worker may
    /// have it. One minute by default.
    pub deps_timeout: Duration,
    /// If set, a job waits only while some worker is near to it, and a worker picks the nearest job
    /// first: one whose result it has, else one with a dependency that it has, else one that any
    /// worker may have. Not set by default: then a job waits for workers that may never come, and a
    /// worker picks from a random one of its queues.
    ///
    /// With it, a job that no worker is near to is passed over while each worker has others. One
    /// pick of 32 takes the first that any worker may have.
    pub near_first: bool,
    /// The seed of the random numbers by which a worker picks one of its queues.
    pub seed: u64,
}

/// Converts to nanoseconds. More than 584 years mean for ever.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Default for Config {
    fn default() -> Self {
        Self {
            cache_timeout: Duration::from_secs(1),
            deps_timeout: Duration::from_secs(60),
            near_first: false,
            seed: 0,
        }
    }
}

impl Config {
    /// Makes a configuration with these two timeouts. [`Duration::MAX`] means no timeout.
    pub fn new(cache_timeout: Duration, deps_timeout: Duration) -> Self {
        Self {
            cache_timeout,
            deps_timeout,
            ..Self::default()
        }
    }

    /// Sets [`near_first`](Self::near_first).
    #[must_use]
    pub fn near_first(self) -> Self {
        Self {
            near_first: true,
            ..self
        }
    }

    /// Sets the seed of the random numbers.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }
}
