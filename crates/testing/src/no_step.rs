//! A step that no scheduler would let the process take.

use std::error::Error;
use std::fmt;

use filch_scheduler::{Event, Protocol};

/// A step that no scheduler would let the process take. It returns the events.
pub struct NoStep<P: Protocol> {
    /// The reason.
    pub reason: WhyNoStep,
    /// The events for the step.
    pub events: Vec<Event<P>>,
}

/// The reason why no scheduler would let a process take a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhyNoStep {
    /// Its `init` was not called yet.
    NotStarted,
    /// It has ended, or a new version has replaced it.
    Over,
    /// It is idle, and there is no event.
    NoEvent,
    /// It waits for its commands, and no event is a completion or a cancel.
    Waits,
    /// It has no command outstanding with the tag of this completion.
    NotOutstanding {
        /// The tag.
        tag: u64,
    },
}

impl fmt::Display for WhyNoStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted => f.write_str("the process has had no `init` yet"),
            Self::Over => f.write_str("the process has ended, or been replaced"),
            Self::NoEvent => f.write_str("the process is idle, and there is no event for it"),
            Self::Waits => f.write_str(
                "the process waits for its commands, and there is neither a completion nor a \
                 cancel for it",
            ),
            Self::NotOutstanding { tag } => {
                write!(
                    f,
                    "the process has no command outstanding with the tag {tag}"
                )
            }
        }
    }
}

impl<P: Protocol> fmt::Display for NoStep<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a scheduler would not take this step: {}", self.reason)
    }
}

impl<P: Protocol> fmt::Debug for NoStep<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NoStep")
            .field("reason", &self.reason)
            .field("events", &self.events)
            .finish()
    }
}

impl<P: Protocol> Error for NoStep<P> {}
