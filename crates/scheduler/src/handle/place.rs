//! A place for a process that is to come.

use std::error::Error;
use std::fmt;
use std::num::NonZeroUsize;

use crate::handle::submission::{Options, Ties};
use crate::table::admission::Refusal;
use crate::table::body::process_box;
use crate::table::mailbox::Takes;
use crate::table::pinned::Pinned;
use crate::{
    ExitReason, Handle, HookError, MailboxPolicy, Pid, Process, ProcessHandle, Protocol,
    Submission, SubmitError,
};

/// A place for a process that is to come; from [`Submission::admit`]. It has a PID, to which others
/// may send already. If it is dropped, it ends as a process that was not started.
#[must_use = "dropping it gives the place up"]
pub struct Place<'a, P: Protocol> {
    handle: &'a Handle<P>,
    /// Until a process begins.
    pinned: Option<Pinned<P>>,
    options: Options<P>,
    ties: Ties<'a, P>,
}

/// Why there is no place.
#[derive(Debug)]
#[non_exhaustive]
pub enum NotAdmitted {
    /// The scheduler is shutting down, or has.
    ShutDown,
    /// As many processes live as this limit admits.
    LimitReached(NonZeroUsize),
    /// There is no memory for one more process.
    NoMemory,
    /// A [condition](Submission::condition) was not met.
    Condition(Box<dyn Error + Send + Sync>),
}

impl NotAdmitted {
    /// Returns the error of the [condition](Submission::condition) that was not met, if it is an
    /// `E`.
    pub fn unmet<E: Error + 'static>(&self) -> Option<&E> {
        match self {
            Self::Condition(error) => error.downcast_ref(),
            _ => None,
        }
    }
}

impl fmt::Display for NotAdmitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShutDown => {
                f.write_str("the scheduler is shutting down and takes no more processes")
            }
            Self::LimitReached(limit) => write!(
                f,
                "the limit of {limit} live processes is reached: wait until one ends, or build the \
                 scheduler with a higher limit"
            ),
            Self::NoMemory => f.write_str("there is no memory for one more process"),
            Self::Condition(error) => error.fmt(f),
        }
    }
}

impl Error for NotAdmitted {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Condition(error) => Some(&**error),
            _ => None,
        }
    }
}

impl From<Refusal> for NotAdmitted {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Closed => Self::ShutDown,
            Refusal::Full(limit) => Self::LimitReached(limit),
            Refusal::NoMemory => Self::NoMemory,
        }
    }
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
            options,
            mut ties,
        } = self;
        match handle.take_place(&options, &mut ties) {
            Ok(pinned) => {
                let place = Place {
                    handle,
                    pinned: Some(pinned),
                    options,
                    ties,
                };
                Ok((place, start))
            }
            Err(error) => Err((error, start)),
        }
    }
}

impl<P: Protocol> Handle<P> {
    /// Takes a place whose conditions are met.
    pub(crate) fn take_place(
        &self,
        options: &Options<P>,
        ties: &mut Ties<'_, P>,
    ) -> Result<Pinned<P>, NotAdmitted> {
        let place = self.admit(options)?;
        for condition in ties.conditions.drain(..) {
            if let Err(error) = condition(self, place.pid()) {
                self.vacate(&place, &ExitReason::not_started(&error));
                return Err(NotAdmitted::Condition(error));
            }
        }
        Ok(place)
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
        match &self.options.placement.mailbox {
            Takes::By(policy) => Some(&**policy),
            Takes::All | Takes::None => None,
        }
    }

    /// A process that needs no [`init`](Process::init) begins here.
    ///
    /// # Errors
    /// The hook refused, or panicked; the process was closed.
    pub fn begin(
        mut self,
        process: impl Process<P> + 'static,
    ) -> Result<ProcessHandle<P>, HookError<P>> {
        let Self {
            handle,
            pinned,
            options,
            ties,
        } = &mut self;
        let Some(pinned) = pinned.take() else {
            unreachable!("a process that begins uses it up")
        };
        let process = process_box(process);
        match handle.start(&pinned, process, |_, _| Ok(()), options, ties) {
            Ok(()) => Ok(ProcessHandle::new(pinned)),
            Err(SubmitError::Hook(error)) => Err(error),
            Err(error) => unreachable!("it has no `init`: {error}"),
        }
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
