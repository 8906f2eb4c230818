//! Counts of a scheduler's work, for people.

use crate::counter::Counter;

/// Counts of a scheduler's work.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    /// Rounds of the main loop.
    pub(crate) rounds: Counter,
    /// The times that it was about to block.
    pub(crate) rests: Counter,
}
