//! What a scheduler has done, for people.

use crate::counter::Counter;

/// What a scheduler has done.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    /// Rounds of the main loop.
    pub(crate) rounds: Counter,
    /// How often it was about to block.
    pub(crate) rests: Counter,
}
