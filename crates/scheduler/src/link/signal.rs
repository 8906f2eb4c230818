//! How signals reach the worker that has a process.

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

type Call = Box<dyn FnOnce(&ExitReason) + Send>;

/// A call that comes at the end of a process; from [`Handle::at_end`](crate::Handle::at_end).
/// Dropping this leaves it as it is.
#[must_use = "dropping it is fine, but says that the call is never cancelled"]
pub struct EndCall(Rival<Call>);

impl EndCall {
    /// With what the process keeps.
    pub(crate) fn new(call: impl FnOnce(&ExitReason) + Send + 'static) -> (Self, PendingCall) {
        let call: Call = Box::new(call);
        let (call, pending) = rivals(call);
        (Self(call), PendingCall(Some(pending)))
    }

    /// Has it not come, and drops what it would have called. Whether this was in time. Wait-free,
    /// except for what is dropped.
    pub fn cancel(self) -> bool {
        self.0.take().is_some()
    }
}

impl fmt::Debug for EndCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndCall").finish_non_exhaustive()
    }
}

/// What the process keeps of a call. If it is dropped, be it unread in the queue of a process that
/// has ended, the call comes then.
pub(crate) struct PendingCall(Option<Rival<Call>>);

impl PendingCall {
    /// Calls, unless that was cancelled. A panic is contained.
    pub(crate) fn run(mut self, reason: &ExitReason) {
        self.take_and_call(reason);
    }

    /// Whether it is still to come.
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
    /// Has `call` called when the process `pid` has ended, exactly once, unless it is
    /// [cancelled](EndCall::cancel) before: on the worker that ends the process, where it should be
    /// short, and a panic is lost. Lock-free, except for memory. A process uses
    /// [`monitor`](Self::monitor).
    ///
    /// If the process has ended, or never was, it is called here, with
    /// [`ExitReason::NoSuchProcess`]. What the process did happens before the call.
    pub fn at_end(&self, pid: Pid, call: impl FnOnce(&ExitReason) + Send + 'static) -> EndCall {
        let (end_call, pending) = EndCall::new(call);
        // What comes back, or is found by nobody, calls when it is dropped.
        let _ = self.signal(pid, Signal::Attach(Watcher::Call(pending)));
        end_call
    }
}
