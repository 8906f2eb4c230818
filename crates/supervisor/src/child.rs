//! A child: a name, and the maker of its processes.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use filch_actors::prelude::*;
use filch_actors::timers::Timers;
use filch_actors::{Inbox, SpawnError};
use filch_scheduler::{ExitReason, Handle, NotAdmitted, Pid, Protocol, Submission, SubmitError};
use filch_sync::panic::drop_contained;

use crate::mail;
use crate::plan::child::{ChildId, Life, Spec};
use crate::settings::{Restart, Shutdown};

/// A child of a supervisor: a name, and the maker of its processes, one for each life.
///
/// Each process has the name in the [scheduler](Handle::whereis), too. By default a child is
/// [permanent](Restart::Permanent), and given five seconds to end.
pub struct Child<P: Protocol>(pub(crate) Spec<Maker<P>>);

/// The address of a supervisor's mail.
pub(crate) type Address<P> = mail::Address<Child<P>>;

/// The maker of a child's processes, and the present process.
pub(crate) struct Maker<P: Protocol> {
    pub(crate) make: Box<Make<P>>,
    pub(crate) pid: Option<Pid>,
    /// The address of its mail, if it is a supervisor.
    pub(crate) below: Option<Address<P>>,
}

/// Makes a process, named and linked from its first moment.
pub(crate) type Make<P> = dyn FnMut(Birth<'_, P>) -> Result<Newborn<P>, NotMade> + Send;

/// The surroundings of a new process.
pub(crate) struct Birth<'a, P: Protocol> {
    pub(crate) scheduler: &'a Handle<P>,
    pub(crate) timers: &'a Timers,
    pub(crate) name: Option<&'a str>,
    pub(crate) child: ChildId,
    pub(crate) life: Life,
    /// The supervisor, and the address of its mail.
    pub(crate) supervisor: Pid,
    pub(crate) above: &'a Address<P>,
}

impl<'a, P: Protocol> Birth<'a, P> {
    /// Links it to the supervisor, and names it.
    fn tie<S>(&self, submission: Submission<'a, P, S>) -> Submission<'a, P, S> {
        let submission = submission.linked_to(self.supervisor);
        match self.name {
            Some(name) => submission.name(name),
            None => submission,
        }
    }
}

/// A process that has been made. A supervisor reports by mail when it has begun.
pub(crate) struct Newborn<P: Protocol> {
    pub(crate) pid: Pid,
    pub(crate) below: Option<Address<P>>,
}

/// The reason why there is no process.
pub(crate) enum NotMade {
    /// The scheduler accepts no more.
    ShutDown,
    Because(ExitReason),
}

impl fmt::Display for NotMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShutDown => f.write_str("the scheduler is shutting down"),
            Self::Because(reason) => reason.fmt(f),
        }
    }
}

impl<P: Protocol> Child<P> {
    /// Makes a child whose processes are the submissions that `make` prepares:
    /// `Child::new("ledger", |scheduler| scheduler.submission(Ledger::new(), "run", ()))`.
    ///
    /// The supervisor's process calls `make`, and the `init` of the process: both should be short.
    pub fn new<F>(name: &str, make: F) -> Self
    where
        F: for<'a> FnMut(&'a Handle<P>) -> Submission<'a, P> + Send + 'static,
    {
        Self::unnamed(make).named(name)
    }

    /// As [`new`](Self::new), without a name: one of many, known by its [`ChildId`].
    pub fn unnamed<F>(mut make: F) -> Self
    where
        F: for<'a> FnMut(&'a Handle<P>) -> Submission<'a, P> + Send + 'static,
    {
        Self::with_maker(move |birth| {
            Ok(Newborn {
                pid: birth.tie(make(birth.scheduler)).submit()?.pid(),
                below: None,
            })
        })
    }

    /// Makes a child whose processes are [async functions](Handle::spawn_with):
    /// `Child::async_fn("clock", |inbox| async move { … })`. Any return of such a function is a
    /// normal end; it fails [by its inbox](Inbox::fail), or by a panic.
    pub fn async_fn<C, F>(name: &str, mut function: C) -> Self
    where
        C: FnMut(Inbox<P>) -> F + Send + 'static,
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let child = Self::with_maker(move |birth| {
            let submission = birth.scheduler.submission_with(&mut function);
            Ok(Newborn {
                pid: birth.tie(submission).spawn()?.pid(),
                below: None,
            })
        });
        child.named(name)
    }

    /// Sets the ends after which it is restarted.
    pub fn restart(mut self, restart: Restart) -> Self {
        self.0.restart = restart;
        self
    }

    /// Sets the way in which its supervisor ends it.
    pub fn shutdown(mut self, shutdown: Shutdown) -> Self {
        self.0.shutdown = shutdown;
        self
    }

    /// Returns its name, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    pub(crate) fn with_maker<F>(make: F) -> Self
    where
        F: FnMut(Birth<'_, P>) -> Result<Newborn<P>, NotMade> + Send + 'static,
    {
        let mut contained = Contained(Some(make));
        let make = Maker {
            make: Box::new(move |birth| match &mut contained.0 {
                Some(make) => make(birth),
                None => unreachable!("it is there until the drop"),
            }),
            pid: None,
            below: None,
        };
        Self(Spec {
            name: None,
            restart: Restart::default(),
            shutdown: Shutdown::default(),
            make,
        })
    }

    pub(crate) fn named(mut self, name: &str) -> Self {
        self.0.name = Some(Arc::from(name));
        self
    }
}

/// Contains a panic in the drop of a child's maker. That destructor is the user's code: its panic
/// would end the supervisor, and with it the other children.
struct Contained<M>(Option<M>);

impl<M> Drop for Contained<M> {
    fn drop(&mut self) {
        drop_contained(self.0.take());
    }
}

impl<P: Protocol> From<SubmitError<P>> for NotMade {
    fn from(error: SubmitError<P>) -> Self {
        match error {
            SubmitError::NotAdmitted(NotAdmitted::ShutDown, _) => Self::ShutDown,
            error => Self::Because(ExitReason::not_started(&error)),
        }
    }
}

impl<P: Protocol, F> From<SpawnError<P, F>> for NotMade {
    fn from(error: SpawnError<P, F>) -> Self {
        match error {
            SpawnError::NotAdmitted(NotAdmitted::ShutDown, _) => Self::ShutDown,
            error => Self::Because(ExitReason::not_started(&error)),
        }
    }
}

impl<P: Protocol> fmt::Debug for Child<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child")
            .field("name", &self.0.name)
            .field("restart", &self.0.restart)
            .field("shutdown", &self.0.shutdown)
            .finish_non_exhaustive()
    }
}
