//! The events of a process, and why a command was not done.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;
use std::{fmt, io};

use filch_sync::drop_each;

use crate::protocol::error_by_display;
use crate::{Ended, Protocol};

/// An event that happened to a process since its last step.
#[non_exhaustive]
pub enum Event<P: Protocol> {
    /// A command that the process yielded is done.
    Completed {
        /// The tag that the process gave the command.
        tag: u64,
        /// The result.
        result: Result<P::Reply, CommandError<P>>,
    },
    /// A message was sent.
    Message(P::Message),
    /// The scheduler shuts down, or somebody [asks](crate::Handle::cancel) this process alone to
    /// end: finish what must be finished and say [`done`](crate::StepOutput::done). It comes after
    /// the events that were there before, and [ends a wait for commands](crate::StepOutput::wait).
    /// A process that was submitted as the scheduler shut down may get two.
    Cancel(Cancel),
    /// A process that this one [watches](crate::Handle::monitor) is over.
    Down(Box<Ended>),
    /// A process that this one is [linked](crate::Handle::link) to is over, and this one
    /// [traps exits](crate::Submission::trap_exits).
    Exited(Box<Ended>),
}

impl<P: Protocol> Event<P> {
    /// Checks if it tells of an end by a watch that the process has cancelled, as far as its worker
    /// knows.
    pub(crate) fn is_cancelled(&self) -> bool {
        match self {
            Self::Down(ended) | Self::Exited(ended) => ended.watch.is_cancelled(),
            Self::Completed { .. } | Self::Message(_) | Self::Cancel(_) => false,
        }
    }
}

impl<P: Protocol> fmt::Debug for Event<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed { tag, result } => f
                .debug_struct("Completed")
                .field("tag", tag)
                .field("ok", &result.is_ok())
                .finish(),
            Self::Message(_) => f.write_str("Message(..)"),
            Self::Cancel(cancel) => cancel.fmt(f),
            Self::Down(ended) => f.debug_tuple("Down").field(ended).finish(),
            Self::Exited(ended) => f.debug_tuple("Exited").field(ended).finish(),
        }
    }
}

/// The events of one step, in order of arrival: per sender first in, first out. There are at most
/// [`Builder::events_per_step`](crate::Builder::events_per_step); the others come in the next
/// steps. If more events wait than a step is given, a completion may overtake messages, and so may
/// a cancel if the process waits for commands.
///
/// A step should take all of them. Those that it leaves are dropped.
pub struct Events<'step, P: Protocol> {
    inbox: &'step mut VecDeque<Event<P>>,
}

impl<'step, P: Protocol> Events<'step, P> {
    /// Takes all events of `inbox`, which is empty afterwards. A reference and not a `Drain`, which
    /// would be moved into the step through memory, and read in other pieces than it was written:
    /// that stalls the processor.
    pub(crate) fn new(inbox: &'step mut VecDeque<Event<P>>) -> Self {
        Self { inbox }
    }
}

impl<P: Protocol> Iterator for Events<'_, P> {
    type Item = Event<P>;

    #[inline]
    fn next(&mut self) -> Option<Event<P>> {
        self.inbox.pop_front()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.inbox.len(), Some(self.inbox.len()))
    }
}

impl<P: Protocol> ExactSizeIterator for Events<'_, P> {}

impl<P: Protocol> Drop for Events<'_, P> {
    /// Drops the events that the step has left. A destructor that panics is a panic of the step.
    #[inline]
    fn drop(&mut self) {
        if !self.inbox.is_empty() {
            drop_rest(self.inbox);
        }
    }
}

/// Drops the events one by one, so that each panic costs one event.
#[cold]
fn drop_rest<P: Protocol>(inbox: &mut VecDeque<Event<P>>) {
    drop_each(|| inbox.pop_front());
}

impl<P: Protocol> fmt::Debug for Events<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&*self.inbox).finish()
    }
}

/// The reason why a command was not done.
#[non_exhaustive]
pub enum CommandError<P: Protocol> {
    /// The handler's own error.
    Failed(P::Error),
    /// The handler panicked with this message; or the code it passed the command on to did.
    Panicked(Box<str>),
    /// The handler dropped the [`Completion`](crate::Completion) without completing it.
    Abandoned,
    /// The scheduler was built without a command handler.
    NoHandler,
    /// The system refused the thread that the command needs: ask again later.
    NoThread(io::Error),
}

impl<P: Protocol> fmt::Display for CommandError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            Self::Panicked(message) => write!(f, "the command's handler panicked: {message}"),
            Self::Abandoned => {
                f.write_str("the command's handler dropped it without completing it")
            }
            Self::NoHandler => f.write_str(
                "this scheduler has no command handler: give it one with `Builder::handler`",
            ),
            Self::NoThread(error) => write!(f, "the system refused a thread: {error}"),
        }
    }
}

error_by_display!(CommandError<P: Protocol>);

/// A request to end, in [`Event::Cancel`](crate::Event::Cancel): of the scheduler that shuts down,
/// or of somebody that has [asked](crate::Handle::cancel) this process alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancel(Option<Arc<Request>>);

/// A request to one process.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    reason: Box<str>,
    deadline: Option<Instant>,
}

impl Cancel {
    /// Makes the request of a scheduler that shuts down.
    pub(crate) const fn shutdown() -> Self {
        Self(None)
    }

    /// Makes a request to one process, which is terminated at the `deadline`, if there is one.
    pub fn asked(reason: &str, deadline: Option<Instant>) -> Self {
        let reason = reason.into();
        Self(Some(Arc::new(Request { reason, deadline })))
    }

    /// Checks if the scheduler shuts down.
    pub fn is_shutdown(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the reason in the words of the asker; for a shutdown, `the scheduler shuts down`.
    pub fn reason(&self) -> &str {
        match &self.0 {
            Some(request) => &request.reason,
            None => "the scheduler shuts down",
        }
    }

    /// Returns the time when the process is terminated if it has not ended, if one was set. A
    /// shutdown's patience is not told.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.as_ref()?.deadline
    }
}

impl fmt::Display for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}
