use std::error::Error;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use filch_processors::StartError;

use crate::{ExitReason, Node, Pid, Process, ProcessHandle, Protocol};

/// Why a scheduler could not be started.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The processors refused the number of workers, or the system the threads.
    Processors(StartError),
    /// A limit of zero live processes: nothing could ever be submitted.
    ZeroLimit,
    /// Steps of zero events: nothing could ever be delivered.
    ZeroEventsPerStep,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Processors(error) => write!(f, "cannot start the workers: {error}"),
            Self::ZeroLimit => f.write_str(
                "a limit of 0 processes admits none: give at least 1, or no limit at all",
            ),
            Self::ZeroEventsPerStep => {
                f.write_str("a step of 0 events delivers none: give each at least 1")
            }
        }
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Processors(error) => Some(error),
            Self::ZeroLimit | Self::ZeroEventsPerStep => None,
        }
    }
}

/// Why [`Process::init`] refused.
#[non_exhaustive]
pub enum InitError<P: Protocol> {
    /// The process has no entry point of that name.
    UnknownMethod {
        /// What was asked for.
        method: String,
        /// What there is.
        known: &'static [&'static str],
    },
    /// The process's own error.
    Failed(P::Error),
    /// `init` panicked with this message.
    Panicked(String),
}

impl<P: Protocol> InitError<P> {
    /// No entry point `method`; these are the `known` ones.
    pub fn unknown_method(method: &str, known: &'static [&'static str]) -> Self {
        Self::UnknownMethod {
            method: method.to_owned(),
            known,
        }
    }
}

impl<P: Protocol> fmt::Display for InitError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownMethod { method, known: [] } => {
                write!(f, "no method `{method}`; this process names none")
            }
            Self::UnknownMethod { method, known } => {
                write!(
                    f,
                    "no method `{method}`; this process has: {}",
                    known.join(", ")
                )
            }
            Self::Failed(error) => write!(f, "init failed: {error}"),
            Self::Panicked(message) => write!(f, "init panicked: {message}"),
        }
    }
}

/// Why a process was not submitted. Unless its own `init` or a hook refused, it comes back
/// untouched.
#[non_exhaustive]
pub enum SubmitError<P: Protocol> {
    /// The scheduler is shutting down, or has.
    ShutDown(Refused<P>),
    /// As many processes live as the scheduler was built to admit; wait for one to end, or raise
    /// the limit.
    LimitReached {
        /// The limit.
        limit: NonZeroUsize,
        /// What was not submitted.
        refused: Refused<P>,
    },
    /// `init` returned an error or panicked; the process was closed.
    Init(InitError<P>),
    /// The [hook](crate::LifeCycle::on_start) refused or panicked; the process was closed.
    Hook(HookError<P>),
}

/// Why [`LifeCycle::on_start`](crate::LifeCycle::on_start) let a process not start.
#[non_exhaustive]
pub enum HookError<P: Protocol> {
    /// It returned this error.
    Refused(P::Error),
    /// It panicked with this message.
    Panicked(String),
}

impl<P: Protocol> fmt::Display for HookError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => write!(f, "the start was refused: {error}"),
            Self::Panicked(message) => write!(f, "the start hook panicked: {message}"),
        }
    }
}

/// A process that was not submitted, and its input.
pub struct Refused<P: Protocol> {
    /// The process, on which nothing has been called.
    pub process: Box<dyn Process<P>>,
    /// Its input.
    pub input: P::Input,
}

impl<P: Protocol> fmt::Display for SubmitError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShutDown(_) => {
                f.write_str("the scheduler is shutting down and takes no more processes")
            }
            Self::LimitReached { limit, .. } => write!(
                f,
                "the limit of {limit} live processes is reached: wait until one ends, or build the scheduler with \
                 a higher limit"
            ),
            Self::Init(error) => error.fmt(f),
            Self::Hook(error) => error.fmt(f),
        }
    }
}

/// How a process ended, if not well.
#[non_exhaustive]
pub enum ProcessError<P: Protocol> {
    /// `step` returned this error.
    Failed(P::Error),
    /// `step`, `close` or the destructor panicked with this message; or so did a future.
    Panicked(String),
    /// The process said that it waits for commands, with none outstanding: it would have waited for
    /// ever.
    WaitsForNothing,
    /// Its new version, which was to take its place, did not start.
    Upgrade(InitError<P>),
    /// Somebody [terminated](crate::Handle::terminate) it.
    Terminated,
    /// A process that it was [linked](crate::Handle::link) to, perhaps through others, did not end
    /// normally.
    Linked {
        /// The first one in the chain of links.
        origin: Pid,
        /// How that one ended.
        reason: Arc<ExitReason>,
    },
    /// The process had not ended when the patience of [`shutdown`](crate::Scheduler::shutdown) did.
    ShutDown,
}

impl<P: Protocol> fmt::Display for ProcessError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => write!(f, "the process failed: {error}"),
            Self::Panicked(message) => write!(f, "the process panicked: {message}"),
            Self::WaitsForNothing => f.write_str(
                "the process waits for commands but has none outstanding: yield one before `wait`, or be `idle` \
                 to await messages",
            ),
            Self::Upgrade(error) => write!(f, "the new version did not start: {error}"),
            Self::Terminated => f.write_str("the process was terminated"),
            Self::Linked { origin, reason } => write!(
                f,
                "the process ended with one that it was linked to, {origin}, which: {reason}"
            ),
            Self::ShutDown => f.write_str("the process had not ended when the scheduler shut down"),
        }
    }
}

/// Why [`execute`](crate::Handle::execute) has no output.
#[non_exhaustive]
pub enum ExecuteError<P: Protocol> {
    /// It was not even submitted.
    Submit(SubmitError<P>),
    /// It ran and did not end well.
    Process(ProcessError<P>),
    /// Called on a worker of the same scheduler, which would wait for itself; nothing was
    /// submitted.
    CalledFromInside(Refused<P>),
}

/// Why [`join`](crate::ProcessHandle::join) has no output. `H` is the handle, which comes back
/// unless the process has ended.
#[non_exhaustive]
pub enum JoinError<P: Protocol, H = ProcessHandle<P>> {
    /// The process did not end well.
    Process(ProcessError<P>),
    /// Called on a worker of the same scheduler, which would wait for itself.
    CalledFromInside(H),
    /// The process has not ended, and the call was not to wait any longer.
    NotYet(H),
}

impl<P: Protocol, H> fmt::Display for JoinError<P, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process(error) => error.fmt(f),
            Self::CalledFromInside(_) => CalledFromInside.fmt(f),
            Self::NotYet(_) => f.write_str("the process has not ended yet"),
        }
    }
}

impl<P: Protocol, H> fmt::Debug for JoinError<P, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinError({self})")
    }
}

impl<P: Protocol, H> Error for JoinError<P, H> {}

impl<P: Protocol> fmt::Display for ExecuteError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Submit(error) => error.fmt(f),
            Self::Process(error) => error.fmt(f),
            Self::CalledFromInside(_) => CalledFromInside.fmt(f),
        }
    }
}

/// A message was not delivered. It comes back.
pub struct SendError<P: Protocol> {
    /// Whom it was for.
    pub to: Pid,
    /// Why it did not get it.
    pub reason: Undelivered,
    /// What was not delivered.
    pub message: P::Message,
}

impl<P: Protocol> fmt::Display for SendError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            Undelivered::Gone => NoSuchProcess { pid: self.to }.fmt(f),
            Undelivered::Full { limit } => write!(
                f,
                "the mailbox of process {} is full: it holds {limit} messages at most, and the process is slower than \
                 those who send to it",
                self.to
            ),
            Undelivered::NoRoute => write!(
                f,
                "process {} lives on node {}, which is not connected",
                self.to,
                self.to.node().0
            ),
            Undelivered::Misrouted { node } => write!(
                f,
                "process {} lives on node {}, and the message was brought to node {}, which does not pass it on",
                self.to,
                self.to.node().0,
                node.0
            ),
        }
    }
}

/// Why a message was not delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Undelivered {
    /// No live process has that PID: it has ended, or never was.
    Gone,
    /// As many messages as its [mailbox](crate::Submission::mailbox) may hold have been sent to it
    /// and not been given to a step.
    Full {
        /// How many that is.
        limit: usize,
    },
    /// The process lives on a node for which no [`Receiver`](crate::Receiver) is connected.
    NoRoute,
    /// The message was brought to the scheduler of another node than the process's, which does not
    /// pass it on. See [`Receiver`](crate::Receiver).
    Misrouted {
        /// The node that it was brought to.
        node: Node,
    },
}

/// No live process has that PID: it has ended, or never was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoSuchProcess {
    /// Who was meant.
    pub pid: Pid,
}

impl fmt::Display for NoSuchProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no live process {}: it has ended, or is of another scheduler",
            self.pid
        )
    }
}

impl Error for NoSuchProcess {}

/// Why a command was not done.
#[non_exhaustive]
pub enum CommandError<P: Protocol> {
    /// The handler's own error.
    Failed(P::Error),
    /// The handler panicked with this message while it was given the command, or what it had the
    /// command done by did.
    Panicked(Box<str>),
    /// The handler let go of the [`Completion`](crate::Completion) without completing it.
    Abandoned,
    /// The scheduler was built without a command handler.
    NoHandler,
}

impl<P: Protocol> fmt::Display for CommandError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            Self::Panicked(message) => write!(f, "the command's handler panicked: {message}"),
            Self::Abandoned => {
                f.write_str("the command's handler dropped it without completing it")
            }
            Self::NoHandler => f.write_str(
                "this scheduler has no command handler: give it one with `Builder::handler`",
            ),
        }
    }
}

/// A call that must come from outside the scheduler came from one of its own workers, which it
/// would have waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalledFromInside;

impl fmt::Display for CalledFromInside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("called on a worker of this scheduler, which would wait for itself: call it from another thread")
    }
}

impl Error for CalledFromInside {}

/// `Debug` says what `Display` says, and `Error` follows: the vocabulary's types need not be
/// printable.
macro_rules! printable_error {
    ($($name:ident),*) => {$(
        impl<P: Protocol> fmt::Debug for $name<P> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl<P: Protocol> Error for $name<P> {}
    )*};
}

printable_error!(
    InitError,
    SubmitError,
    HookError,
    ProcessError,
    ExecuteError,
    SendError,
    CommandError
);

impl<P: Protocol> fmt::Debug for Refused<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused").finish_non_exhaustive()
    }
}
