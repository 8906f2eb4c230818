//! A live process replaced by a new version of itself.

use std::fmt;

use crate::api::step_output::Successor;
use crate::protocol::error_by_display;
use crate::table::item::Signal;
use crate::{Handle, NoSuchProcess, Pid, Process, Protocol, Refused};

impl<P: Protocol> Handle<P> {
    /// Replaces the live process `pid` by a new version of itself. Lock-free.
    ///
    /// When a worker has the process next, before a step, and however many events wait, it calls
    /// `init` of the new version, with `method` and `input`; closes the old one, with
    /// [`ExitReason::Upgraded`](crate::ExitReason::Upgraded); and steps the new one, with the
    /// events that the old one had not been given. All else stays: the PID, the handle, the mailbox
    /// and its limit (where a [future](Self::spawn) had none, there is one now, without a limit),
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
