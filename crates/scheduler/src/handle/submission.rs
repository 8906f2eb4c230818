//! A process that is about to be submitted, and its options.

use std::error::Error;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use filch_slab::AllocateError;

use crate::handle::life_cycle::init;
use crate::link::watch::WatchKind;
use crate::process::inline_box::{NewProcess, ProcessBox, process_box};
use crate::protocol::debug_fields;
use crate::table::pinned::Pinned;
use crate::table::slot::{
    CLOSED, FUTURE, IDLE_PRIORITY, POLICY, Placement, READS_LATER, TRAP_EXITS,
};
use crate::{
    BoundThread, Context, ExitReason, Handle, InitError, MailboxPolicy, Pid, Process,
    ProcessHandle, Protocol,
};

/// A process that is about to be submitted, with its options; from [`Handle::submission`].
///
/// All options take effect at once: the process never runs without its name, or unwatched.
///
/// ```
/// # enum Any {}
/// # impl filch_scheduler::Protocol for Any {
/// #     type Input = (); type Message = (); type Command = (); type Reply = ();
/// #     type Output = filch_scheduler::Pid; type Error = String;
/// # }
/// # use filch_scheduler::{Event, Scheduler, from_fn};
/// # let scheduler = Scheduler::<Any>::builder().workers(1).build()?;
/// let watcher = from_fn(|_, events, out| {
///     for event in events {
///         if let Event::Down(down) = event {
///             out.done(down.pid);
///         }
///     }
///     Ok(())
/// });
/// let watcher = scheduler.submit(watcher, "run", ())?;
/// let task = from_fn(|_, _, _| Err("no luck".to_owned()));
/// let task = scheduler
///     .submission(task, "run", ())
///     .idle_priority()
///     .monitored_by(watcher.pid())
///     .submit()?;
/// assert_eq!(watcher.join()?, task.pid());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the process is not submitted before `submit` is called"]
pub struct Submission<'a, P: Protocol, S = Start<'a, P>> {
    pub(crate) handle: &'a Handle<P>,
    pub(crate) start: S,
    pub(crate) placement: Placement<P>,
    /// Set if the submitter takes the steps.
    pub(crate) as_guest: bool,
    /// The watches that it has from its first moment.
    pub(crate) watches: Vec<(WatchKind, Pid)>,
    pub(crate) conditions: Vec<Condition<'a, P>>,
}

/// A process, and the arguments of its start.
pub struct Start<'a, P: Protocol> {
    pub(crate) process: NewProcess<P>,
    pub(crate) method: &'a str,
    pub(crate) input: P::Input,
}

/// Called with the PID of the process to come. If it fails, the process is not submitted.
pub(crate) type Condition<'a, P> =
    Box<dyn FnOnce(&Handle<P>, Pid) -> Result<(), Box<dyn Error + Send + Sync>> + 'a>;

impl<'a, P: Protocol, S> Submission<'a, P, S> {
    /// Returns the handle to the scheduler that it is for.
    pub fn handle(&self) -> &'a Handle<P> {
        self.handle
    }

    /// Runs it only when there is nothing else to do: each time it becomes runnable, it comes after
    /// all others, except those of its kind. Under lasting load it may never run.
    pub fn idle_priority(mut self) -> Self {
        self.placement.kind |= IDLE_PRIORITY;
        self
    }

    /// Lets it survive the end of a process that it is [linked](Handle::link) to: any end, even a
    /// normal one, is an [`Event::Exited`](crate::Event::Exited) for it.
    #[doc(alias = "trap_exit")]
    pub fn trap_exits(mut self) -> Self {
        self.placement.kind |= TRAP_EXITS;
        self
    }

    /// Calls `condition` with the PID that it will have, before its [`init`](Process::init) runs,
    /// to tie something to it: a name, a deadline. If `condition` fails, the submission is refused.
    pub fn condition(
        mut self,
        condition: impl FnOnce(&Handle<P>, Pid) -> Result<(), Box<dyn Error + Send + Sync>> + 'a,
    ) -> Self {
        self.conditions.push(Box::new(condition));
        self
    }

    /// Lets the calling thread take its steps itself, as a *guest*, if a worker is idle, while the
    /// steps follow one another; and those of what they have made runnable, while it waits for
    /// commands; for about 100 µs at most besides the last one. For a thread that then waits for
    /// its end.
    pub fn guest(mut self) -> Self {
        self.as_guest = true;
        self
    }

    /// Tells `watcher` of its end, as [`Handle::monitor`] does. May be called for several.
    pub fn monitored_by(mut self, watcher: Pid) -> Self {
        self.watches.push((WatchKind::Monitor, watcher));
        self
    }

    /// Links it to `other`, as [`Handle::link`] does: if `other` has ended, it ends, too, after it
    /// has started. May be called for several.
    #[doc(alias = "spawn_link")]
    pub fn linked_to(mut self, other: Pid) -> Self {
        self.watches.push((WatchKind::Link, other));
        self
    }

    /// Has `policy` decide on each message. Default: the process takes all.
    pub fn mailbox_policy(mut self, policy: impl MailboxPolicy<P>) -> Self {
        self.placement.kind |= POLICY;
        self.placement.policy = Some(Box::new(Arc::new(policy)));
        self
    }

    /// Refuses its messages, with [`Undelivered::Future`](crate::Undelivered::Future): it reads
    /// none.
    pub fn without_mailbox(mut self) -> Self {
        self.placement.kind |= CLOSED;
        self
    }

    /// Makes [`Context::is_future`](crate::Context::is_future) true until it is upgraded.
    pub fn future(mut self) -> Self {
        self.placement.kind |= FUTURE;
        self
    }

    /// Keeps the [mailbox](Self::mailbox_policy) room of its messages until it tells the policy
    /// that it has [read](MailboxPolicy::delivered) them, not only until a step is given them.
    pub fn reads_later(mut self) -> Self {
        self.placement.kind |= READS_LATER;
        self
    }

    /// Has it take all its steps on that thread of the same scheduler.
    pub fn bound_to(mut self, thread: &BoundThread<P>) -> Self {
        self.placement.bound_to = thread.0.id().to_bits();
        self
    }
}

impl<P: Protocol> Handle<P> {
    /// Prepares to submit a process with options:
    /// `handle.submission(process, "run", input).trap_exits().submit()`.
    pub fn submission<'a>(
        &'a self,
        process: impl Process<P> + 'static,
        method: &'a str,
        input: P::Input,
    ) -> Submission<'a, P> {
        self.prepare(Start {
            process: NewProcess::new(process),
            method,
            input,
        })
    }

    /// Prepares to submit a value that becomes a process in the [place](Submission::admit) that it
    /// gets.
    pub fn prepare<S>(&self, start: S) -> Submission<'_, P, S> {
        Submission {
            handle: self,
            start,
            placement: Placement::default(),
            as_guest: false,
            watches: Vec::new(),
            conditions: Vec::new(),
        }
    }
}

impl<P: Protocol, S> fmt::Debug for Submission<'_, P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Submission")
            .field("watches", &self.watches)
            .finish_non_exhaustive()
    }
}

debug_fields!(Start<'_, P>, "Start", method);

/// A place for a process that is to come; from [`Submission::admit`]. It has a PID, to which others
/// may send already. Dropping it ends it as a process that was not started.
#[must_use = "dropping it gives the place up"]
pub struct Place<'a, P: Protocol> {
    handle: &'a Handle<P>,
    /// `None` once a process has begun.
    pinned: Option<Pinned<P>>,
    as_guest: bool,
    watches: Vec<(WatchKind, Pid)>,
}

impl<'a, P: Protocol, S> Submission<'a, P, S> {
    /// Takes a place for the submitted value, which comes back beside it.
    ///
    /// # Errors
    /// [`NotAdmitted`], and the submitted value.
    pub fn admit(self) -> Result<(Place<'a, P>, S), (NotAdmitted, S)> {
        let (handle, start) = (self.handle, self.start);
        let pinned = match handle.occupy(self.placement) {
            Ok(pinned) => pinned,
            Err(error) => return Err((error, start)),
        };
        for condition in self.conditions {
            if let Err(error) = condition(handle, pinned.pid()) {
                handle.vacate(&pinned, &ExitReason::not_started(&error));
                return Err((NotAdmitted::Condition(error), start));
            }
        }
        let place = Place {
            handle,
            pinned: Some(pinned),
            as_guest: self.as_guest,
            watches: self.watches,
        };
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

    /// Returns the PID of the process to come.
    pub fn pid(&self) -> Pid {
        self.pinned().pid()
    }

    /// Returns the policy of its mailbox, if it has one.
    pub fn policy(&self) -> Option<&Arc<dyn MailboxPolicy<P>>> {
        self.handle.policy(self.pinned().slot())
    }

    /// Submits the process that was admitted beside this: see [`Handle::submit`]. Until then it is
    /// known to others, and does not run: so a program can give all its processes their places,
    /// names and first messages before one of them runs.
    ///
    /// # Errors
    /// [`InitError`]: `init` or the hook refused or panicked; the process was closed.
    pub fn submit(self, start: Start<'_, P>) -> Result<ProcessHandle<P>, InitError<P>> {
        self.begin_at(start.process.process, start.method, |process, context| {
            init(process, context, start.method, start.input)
        })
    }

    /// Begins a process that needs no [`init`](Process::init).
    ///
    /// # Errors
    /// [`InitError`], if the hook refused or panicked; the process was closed.
    pub fn begin(
        self,
        process: impl Process<P> + 'static,
    ) -> Result<ProcessHandle<P>, InitError<P>> {
        self.begin_at(process_box(process), "", |_, _| Ok(()))
    }

    fn begin_at(
        mut self,
        process: ProcessBox<P>,
        method: &str,
        init: impl FnOnce(&mut dyn Process<P>, &Context<'_, P>) -> Result<(), InitError<P>>,
    ) -> Result<ProcessHandle<P>, InitError<P>> {
        let Some(pinned) = self.pinned.take() else {
            unreachable!("a process that begins uses it up")
        };
        self.handle
            .begin(pinned, process, method, init, self.as_guest, &self.watches)
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

debug_fields!(Place<'_, P>, "Place");

/// The most processes that a table can hold.
const MOST: NonZeroUsize = NonZeroUsize::new(u32::MAX as usize - 1).expect("it is not zero");

/// The reason why a process was not admitted.
#[derive(Debug)]
#[non_exhaustive]
pub enum NotAdmitted {
    /// The scheduler is shutting down, or is shut down.
    ShutDown,
    /// As many processes live as this limit admits.
    LimitReached(NonZeroUsize),
    /// There is no memory for one more process.
    NoMemory,
    /// A [condition](crate::Submission::condition) was not met.
    Condition(Box<dyn Error + Send + Sync>),
}

impl NotAdmitted {
    /// Returns the error of the [condition](crate::Submission::condition) that was not met, if it
    /// is an `E`.
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

/// Converts an error of the [table](crate::table::table::Table) for a process that was admitted.
impl From<AllocateError> for NotAdmitted {
    fn from(error: AllocateError) -> Self {
        match error {
            AllocateError::Full => Self::LimitReached(MOST),
            AllocateError::NoMemory => Self::NoMemory,
        }
    }
}
