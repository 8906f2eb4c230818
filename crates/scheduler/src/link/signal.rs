//! The way of signals to the worker that has a process.

use std::fmt;
use std::time::Instant;

use filch_process_state::{Reason, Wake};
use filch_promise::{Rival, rivals};
use filch_sync::panic::catch_panic;

use crate::link::watch::Watcher;
use crate::process::output::Successor;
use crate::protocol::error_by_display;
use crate::table::body::{Item, Signal};
use crate::{Cancel, Event, ExitReason, Handle, NoSuchProcess, Pid, Process, Protocol, Refused};

/// The fate of a signal that a queue has taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A worker reads it.
    Surely,
    /// The process has ended since. The worker that ended it may have overlooked the signal.
    Perhaps,
}

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

    /// Gives `signal` to the worker that has the process `to` next; at the latest the worker that
    /// ends it finds the signal in the queue.
    ///
    /// # Errors
    /// The signal, as the process had ended.
    pub(crate) fn signal(&self, to: Pid, signal: Signal<P>) -> Result<Heard, Signal<P>> {
        let Some(process) = self.table().pin(to) else {
            return Err(signal);
        };
        let slot = process.slot();
        let (reason, item) = (signal.wakes(), Item::Signal(signal));
        let wake = match self.push(slot, item, reason, |slot| self.enqueue(slot)) {
            Ok(wake) => wake,
            Err(Item::Signal(signal)) => return Err(signal),
            Err(Item::Event(_)) => unreachable!("the queue hands back what was pushed"),
        };
        if wake != Wake::Refused {
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
    /// Asks the process `pid` to end: it gets [`Event::Cancel`], with the `reason`, after the
    /// events that were there before, and decides for itself. This ends a wait for commands.
    /// Lock-free.
    ///
    /// `Timers::end_by` asks, and terminates the process if it has not ended in time. A plain
    /// future does not see the request.
    ///
    /// # Errors
    /// [`NoSuchProcess`] if it has ended already, or never was.
    pub fn cancel(&self, pid: Pid, reason: &str) -> Result<(), NoSuchProcess> {
        self.ask_to_end(pid, Cancel::asked(reason, None))
    }

    /// As [`cancel`](Self::cancel), and tells the process that it is terminated at the `deadline`.
    /// The caller must see to that.
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
        let item = Item::Event(Event::Cancel(cancel));
        let asked = self.push(process.slot(), item, Reason::Cancel, |slot| {
            self.enqueue(slot);
        });
        asked.map(drop).map_err(|_| NoSuchProcess { pid })
    }
}

impl<P: Protocol> Handle<P> {
    /// Replaces the live process `pid` by a new version of itself. Lock-free.
    ///
    /// The worker that has the process next, before its next step and the events that wait, calls
    /// `init` of the new version, with `method` and `input`; closes the old one, with
    /// [`ExitReason::Upgraded`](crate::ExitReason::Upgraded); and steps the new one, with the
    /// events that the old one had not been given. All else stays: the PID, the handle, the mailbox
    /// and its limit (a future, which has none, gets one without a limit), outstanding commands,
    /// whose completions the new version gets, monitors and links. If that `init` refuses, the
    /// process ends with [`ProcessError::Upgrade`](crate::ProcessError::Upgrade), and both versions
    /// are closed.
    ///
    /// To hand over state, send the process a message instead: it [upgrades
    /// itself](crate::StepOutput::upgrade) with its state as the input. Upgrades from one thread
    /// take place in order. If the process ends before, the new version is dropped with it.
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

/// The error of an upgrade: there is no live process to replace. The new version comes back.
pub struct UpgradeError<P: Protocol> {
    /// The reason.
    pub reason: NoSuchProcess,
    /// The new version, not started.
    pub refused: Refused<P>,
}

impl<P: Protocol> fmt::Display for UpgradeError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

error_by_display!(UpgradeError<P: Protocol>);

type Call = Box<dyn FnOnce(&ExitReason) + Send>;

/// A call at the end of a process; from [`Handle::at_end`](crate::Handle::at_end). Dropping this
/// does not cancel the call.
#[must_use = "dropping it is fine, but says that the call is never cancelled"]
pub struct EndCall(Rival<Call>);

impl EndCall {
    /// Makes the call, and the part of it that the process keeps.
    pub(crate) fn new(call: impl FnOnce(&ExitReason) + Send + 'static) -> (Self, PendingCall) {
        let call: Call = Box::new(call);
        let (call, pending) = rivals(call);
        (Self(call), PendingCall(Some(pending)))
    }

    /// Cancels the call, and drops its closure; returns true if this was in time. Wait-free, except
    /// for the closure's destructor.
    pub fn cancel(self) -> bool {
        self.0.take().is_some()
    }
}

impl fmt::Debug for EndCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndCall").finish_non_exhaustive()
    }
}

/// The part of a call that the process keeps. Dropping it makes the call, even from the queue of a
/// process that has ended.
pub(crate) struct PendingCall(Option<Rival<Call>>);

impl PendingCall {
    /// Makes the call, unless it was cancelled. A panic is contained.
    pub(crate) fn run(mut self, reason: &ExitReason) {
        self.take_and_call(reason);
    }

    /// Checks if the call is still to come.
    pub(crate) fn is_pending(&self) -> bool {
        self.0.as_ref().is_some_and(|call| !call.is_taken())
    }

    fn take_and_call(&mut self, reason: &ExitReason) {
        if let Some(call) = self.0.take().and_then(Rival::take) {
            let _ = catch_panic(|| call(reason));
        }
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.take_and_call(&ExitReason::NoSuchProcess);
    }
}

impl<P: Protocol> Handle<P> {
    /// Calls `call` exactly once, when the process `pid` has ended, unless it is
    /// [cancelled](EndCall::cancel) before: on the worker that ends the process, where it should be
    /// short, and its panic is lost. Lock-free, except for memory. Processes use
    /// [`monitor`](Self::monitor) instead.
    ///
    /// If the process has ended, or never was, `call` runs here, with
    /// [`ExitReason::NoSuchProcess`]. The process's acts happen before the call.
    pub fn at_end(&self, pid: Pid, call: impl FnOnce(&ExitReason) + Send + 'static) -> EndCall {
        let (end_call, pending) = EndCall::new(call);
        // What comes back, or is found by nobody, calls when it is dropped.
        let _ = self.signal(pid, Signal::Attach(Watcher::Call(pending)));
        end_call
    }
}
