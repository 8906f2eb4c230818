//! A place for a process that is to come.

use std::error::Error;
use std::fmt;
use std::num::NonZeroUsize;

use crate::table::{Refusal, Takes};

use crate::api::pinned::Pinned;
use crate::api::submission::Options;
use crate::api::ties::Ties;
use crate::table::body::{ProcessBox, process_box};
use crate::worker::start::init;
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
    /// Returns the error of the [condition](Submission::condition) that was not met, if it is an `E`.
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
        let pinned = match handle.admit(&options) {
            Ok(pinned) => pinned,
            Err(refusal) => return Err((refusal.into(), start)),
        };
        let mut place = Place {
            handle,
            pinned: Some(pinned),
            options,
            ties: Ties::default(),
        };
        for condition in ties.conditions.drain(..) {
            if let Err(error) = condition(handle, place.pid()) {
                return Err((NotAdmitted::Condition(error), start));
            }
        }
        place.ties = ties;
        Ok((place, start))
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
        self,
        process: impl Process<P> + 'static,
    ) -> Result<ProcessHandle<P>, HookError<P>> {
        match self.start(process_box(process), None) {
            Ok(handle) => Ok(handle),
            Err(SubmitError::Hook(error)) => Err(error),
            Err(error) => unreachable!("it has no `init`: {error}"),
        }
    }

    pub(crate) fn start(
        mut self,
        process: ProcessBox<P>,
        entry: Option<(&str, P::Input)>,
    ) -> Result<ProcessHandle<P>, SubmitError<P>> {
        let Some(pinned) = self.pinned.take() else {
            unreachable!("a process that begins uses it up")
        };
        let init = |process: &mut dyn Process<P>, context: &crate::Context<'_, P>| match entry {
            Some((method, input)) => init(process, context, method, input),
            None => Ok(()),
        };
        let (options, ties) = (&self.options, Some(&self.ties));
        if options.as_guest {
            self.handle
                .make_ready(&pinned, process, init, options, ties)?;
            pinned.run_here();
        } else {
            self.handle.begin(&pinned, process, init, options, ties)?;
        }
        Ok(ProcessHandle::new(pinned))
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
