//! A request to end, as a process gets it.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// A request to end, in [`Event::Cancel`](crate::Event::Cancel): of the scheduler that shuts down,
/// or of somebody that has [asked](crate::Handle::cancel) this process alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancel(Option<Arc<Request>>);

/// What is asked of one process.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    reason: Box<str>,
    deadline: Option<Instant>,
}

impl Cancel {
    /// The scheduler shuts down.
    pub(crate) const fn shutdown() -> Self {
        Self(None)
    }

    /// One process is asked, and terminated at the `deadline`, if there is one.
    pub(crate) fn asked(reason: &str, deadline: Option<Instant>) -> Self {
        let reason = reason.into();
        Self(Some(Arc::new(Request { reason, deadline })))
    }

    /// Whether the scheduler shuts down.
    pub fn is_shutdown(&self) -> bool {
        self.0.is_none()
    }

    /// Why, in the words of the one that asks; of a shutdown, those are `the scheduler shuts down`.
    pub fn reason(&self) -> &str {
        match &self.0 {
            Some(request) => &request.reason,
            None => "the scheduler shuts down",
        }
    }

    /// When the process is terminated, if it has not ended by then: where one was set. A shutdown's
    /// patience is not told.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.as_ref()?.deadline
    }
}

impl fmt::Display for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}
