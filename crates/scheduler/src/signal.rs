//! What stands in a process's queue besides its events: words to the worker that has it.

use std::fmt;
use std::sync::Arc;

use filch_event_queue::Closed;
use filch_process_state::Reason;
use filch_sync::atomic::{Ordering, fence};

use crate::bond::{Bond, Kind};
use crate::route::Woken;
use crate::upgrade::Successor;
use crate::{Event, ExitReason, Handle, NoSuchProcess, Pid, Protocol};

/// What a process's queue holds.
pub(crate) enum Item<P: Protocol> {
    /// For the process.
    Event(Event<P>),
    /// For the worker that drains the queue. The process does not see it, and no step is run for
    /// it.
    Signal(Signal<P>),
}

/// What a worker does with a process between two steps.
pub(crate) enum Signal<P: Protocol> {
    /// Has the end of the process break this bond.
    Tie(Arc<Bond>),
    /// The process at the other end of a bond is over.
    Exit(Box<ExitSignal>),
    /// Replaces it by a new version.
    Upgrade(Box<Successor<P>>),
}

/// The end of a process, on its way to one that has to do with it.
pub(crate) struct ExitSignal {
    pub(crate) from: Pid,
    pub(crate) bond: Arc<Bond>,
    pub(crate) reason: ExitReason,
}

impl<P: Protocol> Signal<P> {
    /// Whom it wakes. An idle process takes a turn for each signal, so that they do not pile up in
    /// its queue; one that waits for commands, only for those that may end it.
    fn wakes(&self) -> Reason {
        match self {
            Self::Tie(_) => Reason::Message,
            Self::Exit(exit) if exit.bond.kind() == Kind::Monitor => Reason::Message,
            Self::Exit(_) | Self::Upgrade(_) => Reason::Cancel,
        }
    }

    /// Whether it must not stand behind the events in the queue: it may end the process, or replace
    /// it.
    fn is_urgent(&self) -> bool {
        match self {
            Self::Tie(_) => false,
            Self::Exit(exit) => exit.bond.kind() == Kind::Link && !exit.reason.is_normal(),
            Self::Upgrade(_) => true,
        }
    }
}

/// What becomes of a signal that a queue has taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A worker reads it.
    Surely,
    /// The process has ended since. The worker that ended it may have read the signal, or have
    /// overlooked it.
    Perhaps,
}

impl<P: Protocol> Handle<P> {
    /// Ends the process `pid`, whatever it waits for and however many commands it has outstanding.
    /// Lock-free.
    ///
    /// It takes no further step, however many events wait: a step that is under way is its last
    /// one, and if that one says [`done`](crate::StepOutput::done) or fails, that is how the
    /// process ends. Else it ends with
    /// [`ProcessError::Terminated`](crate::ProcessError::Terminated) as soon as a worker has it,
    /// its [`close`](crate::Process::close) is called, and its unread messages are dropped.
    /// Completions that come later do nothing. A process whose `init` is still running ends before
    /// its first step.
    ///
    /// A process may terminate itself: the step that does so is its last.
    ///
    /// # Errors
    /// [`NoSuchProcess`] if it has ended already, or never was.
    pub fn terminate(&self, pid: Pid) -> Result<(), NoSuchProcess> {
        let process = self.table().pin(pid).ok_or(NoSuchProcess { pid })?;
        let slot = process.slot();
        if slot.events.is_closed() {
            return Err(NoSuchProcess { pid });
        }
        slot.urgency.end();
        // Refused: its first turn is to come, and will see it; or it has ended since.
        self.wake(slot, Reason::Cancel);
        Ok(())
    }

    /// Gives `signal` to the worker that will have the process `to` next; at the latest the one
    /// that ends it finds it in the queue.
    ///
    /// # Errors
    /// The process had ended. The signal comes back.
    pub(crate) fn signal(&self, to: Pid, signal: Signal<P>) -> Result<Heard, Signal<P>> {
        let Some(process) = self.table().pin(to) else {
            return Err(signal);
        };
        let slot = process.slot();
        let (reason, urgent) = (signal.wakes(), signal.is_urgent());
        match slot.events.push(Item::Signal(signal)) {
            Ok(()) => {}
            Err(Closed(Item::Signal(signal))) => return Err(signal),
            Err(Closed(Item::Event(_))) => unreachable!("the queue hands back what was pushed"),
        }
        if urgent {
            slot.urgency.signal();
        }
        if self.wake(slot, reason) == Woken::Heard {
            // Before its end, in the order of the state's edges, and the queue is drained after
            // that edge.
            return Ok(Heard::Surely);
        }
        // Before its first turn, which will drain the queue; or after its end. ORDERING: the fence
        // is the partner of the one in `turn_away`: either the closing after a failed `init` is
        // seen here, or that drain finds our signal. If the process has ended, the wake has
        // acquired `complete`, and the closed queue is seen.
        fence(Ordering::SeqCst);
        if slot.events.is_closed() {
            Ok(Heard::Perhaps)
        } else {
            Ok(Heard::Surely)
        }
    }
}

impl<P: Protocol> fmt::Debug for Item<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(event) => event.fmt(f),
            Self::Signal(Signal::Upgrade(_)) => f.write_str("Upgrade"),
            Self::Signal(Signal::Tie(_)) => f.write_str("Tie"),
            Self::Signal(Signal::Exit(exit)) => {
                write!(f, "Exit({}, {})", exit.from, exit.reason)
            }
        }
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::{Item, Signal};
    use crate::body::Slot;
    use crate::{Event, Protocol};

    enum Small {}

    impl Protocol for Small {
        type Input = ();
        type Message = u64;
        type Command = u64;
        type Reply = u64;
        type Output = u64;
        type Error = String;
    }

    /// What signals cost those who do not use them: no byte of an event. And a slot, which holds a
    /// small process, its exit, its queue, its limit and its figures, beside the queue's first
    /// block.
    #[test]
    fn sizes() {
        assert_eq!(size_of::<Event<Small>>(), 32);
        assert_eq!(size_of::<Item<Small>>(), size_of::<Event<Small>>());
        assert_eq!(size_of::<Signal<Small>>(), 16);
        assert_eq!(size_of::<Slot<Small>>(), 160);
    }
}
