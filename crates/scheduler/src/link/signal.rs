//! How signals reach the worker that has a process.

use std::fmt;
use std::time::Instant;

use filch_event_queue::Closed;
use filch_process_state::Reason;

use crate::handle::send::Woken;
use crate::process::output::Successor;
use crate::protocol::error_by_display;
use crate::table::body::{Item, Signal};
use crate::{Cancel, Event, Handle, NoSuchProcess, Pid, Process, Protocol, Refused};

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

impl<P: Protocol> Handle<P> {
    /// Asks the process `pid` to end: it gets [`Event::Cancel`], with the `reason`, behind the
    /// events that were there before, and decides for itself. That ends a wait for commands.
    /// Lock-free.
    ///
    /// `Timers::end_by` asks, and terminates it if it has not
    /// ended in time. A plain future does not hear this.
    ///
    /// # Errors
    /// [`NoSuchProcess`] if it has ended already, or never was.
    pub fn cancel(&self, pid: Pid, reason: &str) -> Result<(), NoSuchProcess> {
        self.ask_to_end(pid, Cancel::asked(reason, None))
    }

    /// The same, and says that the process is terminated at the `deadline`, which the caller sees
    /// to.
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

impl<P: Protocol> Handle<P> {
    /// Replaces the live process `pid` by a new version of itself. Lock-free.
    ///
    /// When a worker has the process next, before a step, and however many events wait, it calls
    /// `init` of the new version, with `method` and `input`; closes the old one, with
    /// [`ExitReason::Upgraded`](crate::ExitReason::Upgraded); and steps the new one, with the
    /// events that the old one had not been given. All else stays: the PID, the handle, the mailbox
    /// and its limit (where a future had none, there is one now, without a limit),
    /// outstanding commands, whose completions the new version gets, monitors and
    /// links. If that `init` refuses, the process ends with
    /// [`ProcessError::Upgrade`](crate::ProcessError::Upgrade), and both versions are closed.
    ///
    /// A process with a state to hand over is sent a message instead, and
    /// [upgrades itself](crate::StepOutput::upgrade) with its state as the input. Upgrades from one
    /// thread take place in order. If the process ends before, the new version is dropped with it.
    ///
    /// # Errors
    /// [`UpgradeError`], with the new version, if the process has ended or never was.
    pub fn upgrade(
        &self,
        pid: Pid,
        process: impl Process<P> + 'static,
        method: &str,
        input: P::Input,
    ) -> Result<(), UpgradeError<P>> {
        let signal = Signal::Upgrade(Successor::new(Box::new(process), method, input));
        match self.signal(pid, signal) {
            Ok(_) => Ok(()),
            Err(Signal::Upgrade(successor)) => {
                let Successor { process, input, .. } = *successor;
                let refused = Refused::new(process, input);
                let reason = NoSuchProcess { pid };
                Err(UpgradeError { reason, refused })
            }
            Err(_) => unreachable!("the queue hands back what was pushed"),
        }
    }
}

/// There is no live process to replace. The new version comes back.
pub struct UpgradeError<P: Protocol> {
    /// Why.
    pub reason: NoSuchProcess,
    /// What was not started.
    pub refused: Refused<P>,
}

impl<P: Protocol> fmt::Display for UpgradeError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

error_by_display!(UpgradeError<P: Protocol>);
