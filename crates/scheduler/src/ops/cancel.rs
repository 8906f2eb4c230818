//! Asking a process to end.

use std::time::Instant;

use filch_process_state::Reason;

use crate::table::item::Item;
use crate::{Cancel, Event, Handle, NoSuchProcess, Pid, Protocol};

impl<P: Protocol> Handle<P> {
    /// Asks the process `pid` to end: it gets [`Event::Cancel`], with the `reason`, behind the
    /// events that were there before, and decides for itself. That ends a wait for commands.
    /// Lock-free.
    ///
    /// [`Timers::end_by`](crate::timers::Timers::end_by) asks, and terminates it if it has not
    /// ended in time. A plain future does not hear this.
    ///
    /// # Errors
    /// [`NoSuchProcess`] if it has ended already, or never was.
    pub fn cancel(&self, pid: Pid, reason: &str) -> Result<(), NoSuchProcess> {
        self.ask_to_end(pid, Cancel::asked(reason, None))
    }

    /// The same, and says that the process is terminated at the `deadline`, which the caller sees to.
    ///
    /// # Errors
    /// As [`cancel`](Self::cancel).
    pub fn cancel_by(
        &self,
        pid: Pid,
        reason: &str,
        deadline: Instant,
    ) -> Result<(), NoSuchProcess> {
        self.ask_to_end(pid, Cancel::asked(reason, Some(deadline)))
    }

    pub(crate) fn ask_to_end(&self, pid: Pid, cancel: Cancel) -> Result<(), NoSuchProcess> {
        let process = self.table().pin(pid).ok_or(NoSuchProcess { pid })?;
        let asked = process
            .slot()
            .events
            .push(Item::Event(Event::Cancel(cancel)));
        asked.map_err(|_| NoSuchProcess { pid })?;
        self.wake(process.slot(), Reason::Cancel);
        Ok(())
    }
}
