use std::collections::VecDeque;
use std::fmt;
use std::panic::resume_unwind;

use crate::{CommandError, Down, Exited, Protocol};
use filch_process_table::panic::catch_panic;

/// What happened to a process since its last step.
#[non_exhaustive]
pub enum Event<P: Protocol> {
    /// A command that the process yielded is done.
    Completed {
        /// The tag that the process gave the command.
        tag: u64,
        /// What came of it.
        result: Result<P::Reply, CommandError<P>>,
    },
    /// Somebody sent a message.
    Message(P::Message),
    /// The scheduler shuts down: finish what must be finished and say
    /// [`done`](crate::StepOutput::done). It comes in its turn, behind the events that were there
    /// before; but it [ends a wait for commands](crate::StepOutput::wait), as a completion does. A
    /// process that was submitted just then may get two.
    Cancel,
    /// A process that this one [watches](crate::Handle::monitor) is over.
    Down(Box<Down>),
    /// A process that this one is [linked](crate::Handle::link) to is over. Only for those who
    /// [trap exits](crate::Submission::trap_exits); others end with it, or never hear of it.
    Exited(Box<Exited>),
}

impl<P: Protocol> Event<P> {
    /// Whether it tells the process of an end of which that wants to hear no more, as far as the
    /// worker knows that has the process.
    pub(crate) fn is_cut(&self) -> bool {
        match self {
            Self::Down(down) => down.monitor.0.is_cut(),
            Self::Exited(exited) => exited.link.0.is_cut(),
            Self::Completed { .. } | Self::Message(_) | Self::Cancel => false,
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
            Self::Cancel => f.write_str("Cancel"),
            Self::Down(down) => down.fmt(f),
            Self::Exited(exited) => exited.fmt(f),
        }
    }
}

/// The events of one step, in order of arrival: per sender first in, first out. They are at most as
/// many as the scheduler was [built](crate::Builder::events_per_step) to give a step; the others
/// come in the next ones. A completion may overtake messages where more events wait than that, and
/// so may a cancel if the process waits for commands; nothing overtakes a completion, and no
/// message a message.
///
/// A step is expected to take all of them; those it leaves, or forgets with this
/// ([`forget`](std::mem::forget)), are dropped with it, as if it had read and ignored them. No
/// other step gets them.
pub struct Events<'step, P: Protocol> {
    inbox: &'step mut VecDeque<Event<P>>,
}

impl<'step, P: Protocol> Events<'step, P> {
    /// All that is in `inbox`, and it is empty afterwards. A reference, and not a `Drain`, which is
    /// moved into the step through memory, and read there in other pieces than it was written in:
    /// the processor waits for that.
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
    /// Drops what the step has left, one by one. A destructor that panics is a panic of the step; a
    /// second one, or one while the step panics, would abort the program if it got out.
    #[inline]
    fn drop(&mut self) {
        if !self.inbox.is_empty() {
            drop_rest(self.inbox);
        }
    }
}

#[cold]
fn drop_rest<P: Protocol>(inbox: &mut VecDeque<Event<P>>) {
    let mut panicked = None;
    while let Some(event) = inbox.pop_front() {
        if let Err(message) = catch_panic(|| drop(event)) {
            panicked.get_or_insert(message);
        }
    }
    if let Some(message) = panicked
        && !std::thread::panicking()
    {
        resume_unwind(Box::new(message));
    }
}

impl<P: Protocol> fmt::Debug for Events<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&*self.inbox).finish()
    }
}
