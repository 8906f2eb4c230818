//! The way in which a supervisor ends a child.

use std::time::Duration;

/// The way in which a supervisor ends a child.
///
/// Asking sends it an `Event::Cancel`. Terminating is
/// [`Handle::terminate`](filch_scheduler::Handle::terminate), which ends it after its present step:
/// a step that never returns holds up its supervisor, whatever the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shutdown {
    /// Asks it, and terminates it if it has not ended after that long.
    After(Duration),
    /// Terminates it without asking.
    AtOnce,
    /// Asks it, and waits as long as it takes. For supervisors: their children have limits of their
    /// own.
    Unlimited,
}

impl Default for Shutdown {
    /// Five seconds, by [`After`](Self::After).
    fn default() -> Self {
        Self::After(Duration::from_secs(5))
    }
}
