//! A child: a name, and the maker of its processes.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use filch_actors::prelude::*;
use filch_actors::timers::Timers;
use filch_actors::{Inbox, SpawnError};
use filch_scheduler::{ExitReason, Handle, NotAdmitted, Pid, Protocol, Submission, SubmitError};
use filch_sync::panic::{catch_panic, drop_contained};
use filch_sync::{Mutex, lock};

use crate::mail::{self, Mail};
use crate::plan::child::{ChildId, Life, Spec};
use crate::settings::{Restart, Shutdown};

/// A child of a supervisor: a name, and the maker of its processes, one for each life.
///
/// Each process has the name in the [scheduler](Handle::whereis), too. By default a child is
/// [permanent](Restart::Permanent), and given five seconds to end.
#[doc(alias = "child_spec")]
pub struct Child<P: Protocol>(pub(crate) Spec<Maker<P>>);

/// The address of a supervisor's mail.
pub(crate) type Address<P> = mail::Address<Child<P>>;

/// The maker of a child's processes, and the present process.
pub(crate) struct Maker<P: Protocol> {
    pub(crate) make: Make<P>,
    pub(crate) pid: Option<Pid>,
    pub(crate) is_supervisor: bool,
    /// The address of its mail, if it is a supervisor.
    pub(crate) below: Option<Address<P>>,
}

/// Makes a process, named and linked from its first moment. A start that goes on has taken it out.
pub(crate) type Make<P> = Arc<Mutex<Option<Box<MakeProcess<P>>>>>;

type MakeProcess<P> = dyn FnMut(&Birth<P>) -> Result<Newborn<P>, NotMade> + Send;

/// The surroundings of a new process.
pub(crate) struct Birth<P: Protocol> {
    pub(crate) scheduler: Handle<P>,
    pub(crate) timers: Timers,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) child: ChildId,
    pub(crate) life: Life,
    /// The supervisor, and the address of its mail.
    pub(crate) supervisor: Pid,
    pub(crate) above: Address<P>,
    /// Set if the supervisor waits elsewhere.
    pub(crate) has_limit: bool,
}

impl<P: Protocol> Birth<P> {
    /// Makes the process. Data that the user's closure left half changed stays so for the next
    /// start.
    pub(crate) fn make(&self, make: &Make<P>) -> Result<Newborn<P>, NotMade> {
        let Some(mut taken) = lock(make).take() else {
            let error = ExitReason::not_started(&"its last start has not returned");
            return Err(NotMade::Because(error));
        };
        let made = catch_panic(|| taken(self)).unwrap_or_else(|message| {
            let reason = ExitReason::Panicked(message.into());
            Err(NotMade::Because(reason))
        });
        *lock(make) = Some(taken);
        made
    }

    /// Links it to the supervisor, and names it. If that waits elsewhere, tells it the PID before
    /// the `init` runs.
    fn tie<'a, S>(&'a self, mut submission: Submission<'a, P, S>) -> Submission<'a, P, S> {
        submission = submission.linked_to(self.supervisor);
        if self.has_limit {
            submission = submission.condition(|_, pid| {
                self.above.send(Mail::Born(self.child, self.life, pid));
                Ok(())
            });
        }
        match &self.name {
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
    /// The supervisor's process calls `make`, and the `init` of the process: both should be short,
    /// or have a [limit](Self::start_within).
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
                pid: birth.tie(make(&birth.scheduler)).submit()?.pid(),
                below: None,
            })
        })
    }

    /// Makes a child whose processes are [async functions](Handle::spawn_with):
    /// `Child::async_fn("clock", |inbox| async move { … })`. Any return of such a function is a
    /// normal end, also of an `Err`; it fails [by its inbox](Inbox::fail), or by a panic.
    pub fn async_fn<C, F>(name: &str, function: C) -> Self
    where
        C: FnMut(Inbox<P>) -> F + Send + 'static,
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Self::unnamed_async_fn(function).named(name)
    }

    /// As [`async_fn`](Self::async_fn), without a name.
    pub fn unnamed_async_fn<C, F>(mut function: C) -> Self
    where
        C: FnMut(Inbox<P>) -> F + Send + 'static,
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Self::with_maker(move |birth| {
            let submission = birth.scheduler.submission_with(&mut function);
            Ok(Newborn {
                pid: birth.tie(submission).spawn()?.pid(),
                below: None,
            })
        })
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

    /// Limits its start: the closure and the `init`, which a process for that alone then calls,
    /// while the supervisor waits. After the limit the start has failed, with
    /// [`ExitReason::StartTimedOut`], and the process ends before its first step, as soon as its
    /// `init` returns; until then it may keep its name. One that is ended while it starts ends so,
    /// too. Default: no limit. (OTP's start time-out.)
    ///
    /// It has no effect on a supervisor, whose children have limits of their own.
    pub fn start_within(mut self, limit: Duration) -> Self {
        self.0.start = (!self.0.make.is_supervisor).then_some(limit);
        self
    }

    /// Returns its name, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    pub(crate) fn with_maker<F>(make: F) -> Self
    where
        F: FnMut(&Birth<P>) -> Result<Newborn<P>, NotMade> + Send + 'static,
    {
        let make = Maker {
            make: Arc::new(Mutex::new(Some(Box::new(make)))),
            pid: None,
            is_supervisor: false,
            below: None,
        };
        Self(Spec {
            name: None,
            restart: Restart::default(),
            shutdown: Shutdown::default(),
            start: None,
            make,
        })
    }

    pub(crate) fn named(mut self, name: &str) -> Self {
        self.0.name = Some(Arc::from(name));
        self
    }
}

impl<P: Protocol> Drop for Maker<P> {
    /// Contains a panic in the destructor of the user's closure: it would end the supervisor, and
    /// with it the other children. Of a start that goes on, it ends the process that starts.
    fn drop(&mut self) {
        drop_contained(lock(&self.make).take());
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
