//! The ends after which a child is restarted.

use filch_scheduler::ExitReason;

/// The ends after which a child is restarted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Restart {
    /// After each end.
    #[default]
    Permanent,
    /// After each end that is not [normal](ExitReason::is_normal).
    Transient,
    /// After none. A child that has ended is deleted.
    Temporary,
}

impl Restart {
    /// Returns whether a child that ended by itself, for this reason, is restarted.
    pub(crate) fn follows(self, reason: &ExitReason) -> bool {
        match self {
            Self::Permanent => true,
            Self::Transient => !reason.is_normal(),
            Self::Temporary => false,
        }
    }
}
