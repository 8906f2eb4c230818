//! The way of signals to the worker that has a process.

use filch_process_state::{Reason, Wake};

use crate::table::body::{Item, Signal};
use crate::table::slot::ENDS;
use crate::{Cancel, Event, Handle, NoSuchProcess, Pid, Protocol};

impl<P: Protocol> Handle<P> {
    /// Ends the process `pid`, even if it waits or has commands outstanding. Lock-free.
    ///
    /// A step that is under way is its last one, and if it says [`done`](crate::StepOutput::done)
    /// or fails, the process ends so. Else it ends with
    /// [`ProcessError::Terminated`](crate::ProcessError::Terminated) as soon as a worker has it. A
    /// process whose `init` is still running ends before its first step. A process may terminate
    /// itself.
    ///
    /// # Errors
    /// [`NoSuchProcess`] if it has ended already, or never was.
    #[doc(alias = "kill")]
    pub fn terminate(&self, pid: Pid) -> Result<(), NoSuchProcess> {
        let process = self.pin(pid).ok_or(NoSuchProcess { pid })?;
        let slot = process.slot();
        if slot.events.is_closed() {
            return Err(NoSuchProcess { pid });
        }
        slot.raise(ENDS);
        // Refused: its first turn is to come, and will see it; or it has ended since.
        self.wake(slot, Reason::Cancel);
        Ok(())
    }

    /// Gives `signal` to the worker that has the process `to` next; at the latest the worker that
    /// ends it finds the signal in the queue. [`Wake::Refused`]: it may have ended since, and the
    /// signal been overlooked.
    ///
    /// # Errors
    /// The signal, as the process had ended.
    pub(crate) fn signal(&self, to: Pid, signal: Signal<P>) -> Result<Wake, Signal<P>> {
        let Some(process) = self.pin(to) else {
            return Err(signal);
        };
        let (reason, item) = (signal.wakes(), Item::Signal(signal));
        let pushed = self.push(process.slot(), item, reason, |slot| self.enqueue(slot));
        pushed.map_err(|item| match item {
            Item::Signal(signal) => signal,
            Item::Event(_) => unreachable!("the queue hands back what was pushed"),
        })
    }

    /// Asks the process `pid` to end: it gets [`Event::Cancel`], with the `reason`, after the
    /// events that were there before, and decides for itself. This ends a wait for commands.
    /// Lock-free.
    ///
    /// `Timers::end_by` asks, and terminates the process if it has not ended in time. A plain
    /// future does not see the request.
    ///
    /// # Errors
    /// [`NoSuchProcess`] if it has ended already, or never was.
    #[doc(alias = "exit")]
    #[doc(alias = "CancellationToken")]
    pub fn cancel(&self, pid: Pid, reason: &str) -> Result<(), NoSuchProcess> {
        self.ask_to_end(pid, Cancel::asked(reason, None))
    }

    /// As [`cancel`](Self::cancel), by that request. If it has a deadline, the caller must see to
    /// it.
    ///
    /// # Errors
    /// As [`cancel`](Self::cancel).
    pub fn ask_to_end(&self, pid: Pid, cancel: Cancel) -> Result<(), NoSuchProcess> {
        let process = self.pin(pid).ok_or(NoSuchProcess { pid })?;
        let item = Item::Event(Event::Cancel(cancel));
        let enqueue = |slot: &_| self.enqueue(slot);
        let asked = self.push(process.slot(), item, Reason::Cancel, enqueue);
        asked.map(drop).map_err(|_| NoSuchProcess { pid })
    }
}
