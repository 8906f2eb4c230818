//! A place for a process that is to come.

use std::fmt;

use crate::handle::submission::Options;
use crate::table::body::process_box;
use crate::table::pinned::Pinned;
use crate::{
    ExitReason, Handle, HookError, MailboxPolicy, NotAdmitted, Pid, Process, ProcessHandle,
    Protocol, Submission, SubmitError,
};

/// A place for a process that is to come; from [`Submission::admit`]. It has a PID, to which others
/// may send already. If it is dropped, it ends as a process that was not started.
#[must_use = "dropping it gives the place up"]
pub struct Place<'a, P: Protocol> {
    handle: &'a Handle<P>,
    /// Until a process begins.
    pinned: Option<Pinned<P>>,
    options: Options<'a, P>,
}

impl<'a, P: Protocol, S> Submission<'a, P, S> {
    /// Takes a place for what is submitted, which comes back beside it.
    ///
    /// # Errors
    /// [`NotAdmitted`], and what was to be submitted.
    pub fn admit(self) -> Result<(Place<'a, P>, S), (NotAdmitted, S)> {
        let Self {
            handle,
            start,
            mut options,
        } = self;
        match handle.take_place(&mut options) {
            Ok(pinned) => {
                let place = Place {
                    handle,
                    pinned: Some(pinned),
                    options,
                };
                Ok((place, start))
            }
            Err(error) => Err((error, start)),
        }
    }
}

impl<P: Protocol> Place<'_, P> {
    fn pinned(&self) -> &Pinned<P> {
        match &self.pinned {
            Some(pinned) => pinned,
            None => unreachable!("a process that begins uses it up"),
        }
    }

    /// The PID of the process to come.
    pub fn pid(&self) -> Pid {
        self.pinned().pid()
    }

    /// The policy of its mailbox, if it has one.
    pub fn policy(&self) -> Option<&dyn MailboxPolicy<P>> {
        self.handle.policy(self.pinned().slot())
    }

    /// A process that needs no [`init`](Process::init) begins here.
    ///
    /// # Errors
    /// The hook refused, or panicked; the process was closed.
    pub fn begin(
        mut self,
        process: impl Process<P> + 'static,
    ) -> Result<ProcessHandle<P>, HookError<P>> {
        let Some(pinned) = self.pinned.take() else {
            unreachable!("a process that begins uses it up")
        };
        let process = process_box(process);
        let begun = (self.handle).begin(pinned, process, |_, _| Ok(()), &self.options);
        begun.map_err(|error| match error {
            SubmitError::Hook(error) => error,
            error => unreachable!("it has no `init`: {error}"),
        })
    }
}

impl<P: Protocol> Drop for Place<'_, P> {
    fn drop(&mut self) {
        if let Some(pinned) = self.pinned.take() {
            let reason = ExitReason::not_started(&"its place was given up");
            self.handle.vacate(&pinned, &reason);
        }
    }
}

impl<P: Protocol> fmt::Debug for Place<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").finish_non_exhaustive()
    }
}
