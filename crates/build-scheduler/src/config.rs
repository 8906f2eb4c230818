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
    /// Whether a job waits only as long as some worker is near to it, and a worker that picks takes
    /// what it is near to first: a job of which it has the result, else one of which it has a
    /// dependency, else one that any worker may have. Not by default: then a job waits for workers
    /// that may never come, and a worker picks from a random one of its queues.
    ///
    /// With it, a job that nobody is near to is passed over for as long as each worker has others.
    pub near_first: bool,
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
            near_first: false,
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

    /// Nearest jobs first: see [the field](Self::near_first).
    #[must_use]
    pub fn near_first(self) -> Self {
        Self {
            near_first: true,
            ..self
        }
    }

    /// The random numbers begin elsewhere.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }
}
