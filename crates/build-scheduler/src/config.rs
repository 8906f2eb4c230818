//! What a scheduler may be told before it starts.

use std::time::Duration;

/// How long a job is kept for workers that are near to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// How long a job waits for a worker that has its own result in the cache. One second by
    /// default.
    pub cache_timeout: Duration,
    /// How long it then waits for a worker that has one of its dependencies, before any worker may
    /// have it. One minute by default.
    pub deps_timeout: Duration,
    /// Where the random numbers begin by which a worker picks one of its queues.
    pub seed: u64,
}

/// Beyond 584 years, as good as never.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Default for Config {
    fn default() -> Self {
        Self {
            cache_timeout: Duration::from_secs(1),
            deps_timeout: Duration::from_secs(60),
            seed: 0,
        }
    }
}

impl Config {
    /// A configuration with these two timeouts. [`Duration::MAX`] means that this wait has no end.
    pub fn new(cache_timeout: Duration, deps_timeout: Duration) -> Self {
        Self {
            cache_timeout,
            deps_timeout,
            ..Self::default()
        }
    }

    /// The random numbers begin elsewhere.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }
}
