//! What a process is tied to from its first moment: a name, those that watch it, a deadline.

use std::time::Instant;

use filch_process_table::WatchKind;

use crate::{Handle, Pid, Protocol};

/// What a process is tied to from its first moment.
pub(crate) struct Ties<'a, P: Protocol> {
    pub(crate) name: Option<&'a str>,
    pub(crate) watches: Vec<(WatchKind, Pid)>,
    pub(crate) deadline: Option<Deadline<'a, P>>,
}

impl<P: Protocol> Default for Ties<'_, P> {
    fn default() -> Self {
        Self {
            name: None,
            watches: Vec::new(),
            deadline: None,
        }
    }
}

impl<P: Protocol> Ties<'_, P> {
    /// Whether it is too late to begin.
    pub(crate) fn is_over(&self) -> bool {
        let deadline = self.deadline.as_ref();
        deadline.is_some_and(|Deadline { at, timers }| timers.now() >= *at)
    }
}

/// When a process is terminated, and the timers that see to it.
pub(crate) struct Deadline<'a, P: Protocol> {
    pub(crate) at: Instant,
    pub(crate) timers: &'a dyn Terminator<P>,
}

/// Timers, as a submission sees them.
pub(crate) trait Terminator<P: Protocol>: Sync {
    fn now(&self) -> Instant;

    /// Terminates the process at that time, if it lives then.
    fn terminate_at(&self, deadline: Instant, scheduler: &Handle<P>, pid: Pid);
}
