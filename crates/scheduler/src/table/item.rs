//! What a process's queue holds: events for the process, and signals for the worker that has it.

use std::fmt;
use std::sync::Arc;

use filch_process_state::Reason;
use filch_process_table::Watch;

use crate::api::end_call::PendingCall;
use crate::api::step_output::Successor;
use crate::table::late::Late;
use crate::table::latest::Latest;
use crate::{Down, Event, Exited, Protocol};

/// What a process's queue holds.
pub(crate) enum Item<P: Protocol> {
    /// For the process.
    Event(Event<P>),
    /// For the worker that drains the queue. The process does not see it, and takes no step for it.
    Signal(Signal<P>),
}

/// What a worker does with a process between two steps.
pub(crate) enum Signal<P: Protocol> {
    /// Has the end of the process fire this watch.
    Attach(Arc<Watch>),
    /// A process that it monitors is over.
    Down(Box<Down>),
    /// A process that it is linked to is over.
    Exited(Box<Exited>),
    /// Replaces it by a new version.
    Upgrade(Box<Successor<P>>),
    /// Calls this at its end.
    AtEnd(PendingCall),
    /// Ends it: its mailbox, with that limit, was full.
    Full(usize),
    /// Takes this message for it, whose sender waits.
    Late(Box<Late<P>>),
    /// Takes these messages for it.
    Latest(Arc<Latest<P>>),
}

impl<P: Protocol> Signal<P> {
    /// Which waiting processes it wakes. An idle process takes a turn for each signal, so that they
    /// do not pile up in its queue; one that waits for commands, only for those that may end it, or
    /// that somebody waits for.
    pub(crate) fn wakes(&self) -> Reason {
        match self {
            Self::Attach(_) | Self::AtEnd(_) | Self::Down(_) | Self::Latest(_) => Reason::Message,
            Self::Exited(_) | Self::Upgrade(_) | Self::Full(_) | Self::Late(_) => Reason::Cancel,
        }
    }

    /// Whether it must not stand behind the events in the queue: it may end the process, or replace
    /// it.
    pub(crate) fn is_urgent(&self) -> bool {
        match self {
            Self::Attach(_) | Self::AtEnd(_) | Self::Down(_) | Self::Late(_) | Self::Latest(_) => {
                false
            }
            Self::Exited(exited) => !exited.reason.is_normal(),
            Self::Upgrade(_) | Self::Full(_) => true,
        }
    }
}

impl<P: Protocol> fmt::Debug for Item<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(event) => event.fmt(f),
            Self::Signal(Signal::Upgrade(_)) => f.write_str("Upgrade"),
            Self::Signal(Signal::Attach(_)) => f.write_str("Attach"),
            Self::Signal(Signal::AtEnd(_)) => f.write_str("AtEnd"),
            Self::Signal(Signal::Full(limit)) => write!(f, "Full({limit})"),
            Self::Signal(Signal::Late(_)) => f.write_str("Late"),
            Self::Signal(Signal::Latest(_)) => f.write_str("Latest"),
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
    use crate::table::body::Slot;

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
