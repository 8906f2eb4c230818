//! After which ends a child is restarted.

use filch_scheduler::ExitReason;

/// After which ends a child is restarted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Restart {
    /// After each.
    #[default]
    Permanent,
    /// After each that is not [normal](ExitReason::is_normal).
    Transient,
    /// After none. Once it has ended, it is deleted.
    Temporary,
}

impl Restart {
    /// Whether a child that has ended by itself, and so, is restarted.
    pub(crate) fn follows(self, reason: &ExitReason) -> bool {
        match self {
            Self::Permanent => true,
            Self::Transient => !reason.is_normal(),
            Self::Temporary => false,
        }
    }
}
