//! How signals reach the worker that has a process.

use filch_event_queue::Closed;
use filch_process_state::Reason;

use crate::ops::send::Woken;
use crate::table::item::{Item, Signal};
use crate::{Handle, NoSuchProcess, Pid, Protocol};

/// What becomes of a signal that a queue has taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A worker reads it.
    Surely,
    /// The process has ended since. The worker that ended it may have overlooked the signal.
    Perhaps,
}

impl<P: Protocol> Handle<P> {
    /// Ends the process `pid`, whatever it waits for and however many commands it has outstanding.
    /// Lock-free.
    ///
    /// A step that is under way is its last one, and if that one says
    /// [`done`](crate::StepOutput::done) or fails, that is how the process ends. Else it ends with
    /// [`ProcessError::Terminated`](crate::ProcessError::Terminated) as soon as a worker has it. A
    /// process whose `init` is still running ends before its first step. A process may terminate
    /// itself.
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
            // Before its end, in the order of the state's edges: the end is not taken before the
            // queue is drained after this wake-up.
            return Ok(Heard::Surely);
        }
        // After its end: then the wake-up has acquired that, and the closed queue is seen. Or
        // before its life has begun: then what comes next, the first turn or the end of a process
        // that is turned away, acquires the push before it drains the queue.
        if slot.events.is_closed() {
            Ok(Heard::Perhaps)
        } else {
            Ok(Heard::Surely)
        }
    }
}
