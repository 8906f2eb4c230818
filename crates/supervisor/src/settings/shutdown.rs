//! How a child is ended.

use std::time::Duration;

/// How a child is ended, by its supervisor.
///
/// To ask it is to give it an `Event::Cancel`. To terminate it is
/// [`Handle::terminate`](filch_scheduler::Handle::terminate), which ends it after the step that it
/// is in: a step that never returns holds up its supervisor, whatever the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shutdown {
    /// It is asked, and terminated if it has not ended after that long.
    After(Duration),
    /// It is terminated, and not asked.
    AtOnce,
    /// It is asked, and waited for as long as it takes. For supervisors: those below them have
    /// limits of their own.
    Unlimited,
}

impl Default for Shutdown {
    /// [`After`](Self::After) five seconds.
    fn default() -> Self {
        Self::After(Duration::from_secs(5))
    }
}
