//! What a process's queue holds: events for the process, and signals for the worker that has it.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use filch_process_state::Reason;

use crate::api::policy::MailboxPolicy;
use crate::api::step_output::Successor;
use crate::table::Watcher;
use crate::{Down, Event, Exited, Protocol};

/// What a process's queue holds.
pub enum Item<P: Protocol> {
    /// For the process.
    Event(Event<P>),
    /// For the worker that drains the queue. The process does not see it, and takes no step for it.
    #[expect(private_interfaces, reason = "models know of events alone")]
    Signal(Signal<P>),
}

/// What a worker does with a process between two steps.
pub(crate) enum Signal<P: Protocol> {
    /// Has this told of the end of the process.
    Attach(Watcher),
    /// A process that it monitors is over.
    Down(Box<Down>),
    /// A process that it is linked to is over.
    Exited(Box<Exited>),
    /// Replaces it by a new version.
    Upgrade(Box<Successor<P>>),
    /// Ends it with this error.
    Fail(Box<Box<dyn Error + Send + Sync>>),
    /// Takes the messages that this has kept for it.
    Fetch(Box<Arc<dyn MailboxPolicy<P>>>),
}

impl<P: Protocol> Signal<P> {
    /// Which waiting processes it wakes. An idle process takes a turn for each signal, so that they
    /// do not pile up in its queue; one that waits for commands, only for those that may end it, or
    /// that somebody waits for.
    pub(crate) fn wakes(&self) -> Reason {
        match self {
            Self::Attach(_) | Self::Down(_) | Self::Fetch(_) => Reason::Message,
            Self::Exited(_) | Self::Upgrade(_) | Self::Fail(_) => Reason::Cancel,
        }
    }

    /// Whether it must not stand behind the events in the queue: it may end the process, or replace
    /// it.
    pub(crate) fn is_urgent(&self) -> bool {
        match self {
            Self::Attach(_) | Self::Down(_) | Self::Fetch(_) => false,
            Self::Exited(exited) => !exited.reason.is_normal(),
            Self::Upgrade(_) | Self::Fail(_) => true,
        }
    }
}

impl<P: Protocol> fmt::Debug for Item<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(event) => event.fmt(f),
            Self::Signal(Signal::Upgrade(_)) => f.write_str("Upgrade"),
            Self::Signal(Signal::Attach(_)) => f.write_str("Attach"),
            Self::Signal(Signal::Fail(error)) => write!(f, "Fail({error})"),
            Self::Signal(Signal::Fetch(_)) => f.write_str("Fetch"),
            Self::Signal(Signal::Down(down)) => down.fmt(f),
            Self::Signal(Signal::Exited(exited)) => exited.fmt(f),
        }
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::{Item, Signal};
    use crate::api::event::Event;
    use crate::protocol::Protocol;
    use crate::table::Slot;

    enum Small {}

    impl Protocol for Small {
        type Input = ();
        type Message = u64;
        type Command = u64;
        type Reply = u64;
        type Output = u64;
        type Error = String;
    }

    /// What signals cost processes that get none: no byte of an event. And a slot, which holds a
    /// small process, its exit, its queue, its limit and its stats, beside the queue's first block.
    #[test]
    fn sizes() {
        assert_eq!(size_of::<Event<Small>>(), 32);
        assert_eq!(size_of::<Item<Small>>(), size_of::<Event<Small>>());
        assert_eq!(size_of::<Signal<Small>>(), 16);
        assert_eq!(size_of::<Slot<Small>>(), 168);
    }
}
