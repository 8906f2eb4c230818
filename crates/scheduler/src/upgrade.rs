//! A live process replaced by a new version of itself.

use std::fmt;

use crate::body::Body;
use crate::resident::Resident;
use crate::signal::Signal;
use crate::submit::init;
use crate::{Context, ExitReason, Handle, Pid, Process, ProcessError, Protocol, Refused};
use filch_process_table::panic::{catch_panic, drop_contained};

/// The new version of a process, and how it starts.
pub(crate) struct Successor<P: Protocol> {
    pub(crate) process: Box<dyn Process<P>>,
    pub(crate) method: Box<str>,
    pub(crate) input: P::Input,
}

impl<P: Protocol> Successor<P> {
    pub(crate) fn new(process: Box<dyn Process<P>>, method: &str, input: P::Input) -> Box<Self> {
        Box::new(Self {
            process,
            method: method.into(),
            input,
        })
    }

    /// Starts it in place of the version that the caller has.
    ///
    /// # Errors
    /// What the process ends with.
    pub(crate) fn take_over(
        self,
        context: &Context<'_, P>,
        body: &mut Body<P>,
    ) -> Result<(), ProcessError<P>> {
        let Self {
            mut process,
            method,
            input,
        } = self;
        if let Err(error) = init(process.as_mut(), context, &method, input) {
            let reason = ExitReason::not_started(&error);
            let _ = catch_panic(|| process.close(&reason));
            drop_contained(process);
            return Err(ProcessError::Upgrade(error));
        }
        let mut old = std::mem::replace(&mut body.process, Resident::boxed(process));
        let closed = catch_panic(|| old.close(&ExitReason::Upgraded));
        let dropped = catch_panic(|| drop(old));
        closed.and(dropped).map_err(ProcessError::Panicked)
    }
}

impl<P: Protocol> Handle<P> {
    /// Replaces the live process `pid` by a new version of itself. Lock-free.
    ///
    /// When a worker has the process next, before a step, and however many events wait, it calls
    /// `init` of the new version, with `method` and `input`; closes the old one, with
    /// [`ExitReason::Upgraded`]; and steps the new one, with the events that the old one had not
    /// been given. All else stays: the PID, the mailbox and its limit, outstanding commands, whose
    /// completions the new version gets, monitors and links, and whoever joins. If that `init`
    /// refuses, the process ends with [`ProcessError::Upgrade`](crate::ProcessError::Upgrade), and
    /// both versions are closed.
    ///
    /// The old version is not asked, so this is for processes without a state to hand over. Others
    /// are sent a message, and [upgrade themselves](crate::StepOutput::upgrade) with their state as
    /// the input.
    ///
    /// Upgrades from one thread take place in order, each of them. One whose process ends before is
    /// dropped with it.
    ///
    /// # Errors
    /// [`UpgradeError`], with the new version, if the process has ended or never was.
    pub fn upgrade(
        &self,
        pid: Pid,
        process: Box<dyn Process<P>>,
        method: &str,
        input: P::Input,
    ) -> Result<(), UpgradeError<P>> {
        let signal = Signal::Upgrade(Successor::new(process, method, input));
        match self.signal(pid, signal) {
            Ok(_) => Ok(()),
            Err(Signal::Upgrade(successor)) => {
                let Successor { process, input, .. } = *successor;
                let refused = Refused { process, input };
                Err(UpgradeError { pid, refused })
            }
            Err(_) => unreachable!("the queue hands back what was pushed"),
        }
    }
}

/// There is no live process to replace: it has ended, or never was. The new version comes back.
pub struct UpgradeError<P: Protocol> {
    /// Who was meant.
    pub pid: Pid,
    /// What was not started.
    pub refused: Refused<P>,
}

impl<P: Protocol> fmt::Display for UpgradeError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no live process {} to replace: it has ended, or is of another scheduler",
            self.pid
        )
    }
}

impl<P: Protocol> fmt::Debug for UpgradeError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UpgradeError({self})")
    }
}

impl<P: Protocol> std::error::Error for UpgradeError<P> {}
