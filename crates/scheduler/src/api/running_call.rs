//! A call of the user's code that has not returned: where it runs, for which process, since when.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::Pid;

/// What is known of a command that a blocking thread does.
#[derive(Clone)]
pub(crate) struct CommandLabel {
    pub(crate) process: Pid,
    pub(crate) tag: u64,
    pub(crate) label: Option<Cow<'static, str>>,
}

/// A call of the user's code that has not returned. Its [`Display`](fmt::Display) is a line for a
/// person with a program that hangs.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunningCall {
    /// The name of its thread, as a debugger shows it.
    pub thread: String,
    /// The process that it runs for, if it does for one.
    pub process: Option<Pid>,
    /// The name of that one's type, if the scheduler keeps a [journal](crate::Builder::journal).
    pub type_name: Option<&'static str>,
    /// What it is.
    pub kind: CallKind,
    /// For how long it has run: exactly for commands, blocking calls and timers. A step has no
    /// clock, so that this is the time since a shutdown, a [dump](crate::Handle::dump) or
    /// [`Handle::running`](crate::Handle::running) first saw it.
    pub elapsed: Duration,
}

/// What a [`RunningCall`] is.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallKind {
    /// A command, on a thread of [`BlockingThreads`](crate::BlockingThreads).
    Command {
        /// Its tag.
        tag: u64,
        /// The label that it was [given](crate::BlockingThreads::run_labelled).
        label: Option<Cow<'static, str>>,
    },
    /// A step, or what a worker calls besides for a process that has not ended: the command
    /// handler, `close`, a hook, a destructor.
    Step,
    /// A [`blocking`](crate::Handle::blocking) call in a step.
    Blocking,
    /// A job of the pool that is [attached](crate::Handle::pool), from a thread outside or from
    /// another worker. It may sleep until a part of it has ended elsewhere.
    Job,
    /// What follows the end of a process: a call of [`on_exit`](crate::ProcessHandle::on_exit), or
    /// the destructor of an output.
    AfterEnd,
    /// What a timer fires. The timers were the command handler's.
    Timer,
    /// A destructor at the scheduler's end: of the command handler, of the hooks, of a receiver, or
    /// of a worker's thread-local value.
    Destructor,
}

impl fmt::Display for RunningCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.thread)?;
        let at_least = match &self.kind {
            CallKind::Command { tag, .. } => {
                write!(f, "command {tag}")?;
                ""
            }
            CallKind::Step => {
                f.write_str("a step")?;
                "at least "
            }
            CallKind::Blocking => {
                f.write_str("a blocking call in a step")?;
                ""
            }
            CallKind::Job => {
                f.write_str("a job of the attached pool")?;
                "at least "
            }
            CallKind::AfterEnd => {
                f.write_str("an `on_exit` call or destructor after the end")?;
                "at least "
            }
            CallKind::Timer => {
                f.write_str("a timer's call")?;
                ""
            }
            CallKind::Destructor => {
                f.write_str("a destructor at the scheduler's end")?;
                "at least "
            }
        };
        if let Some(process) = self.process {
            write!(f, " of process {process}")?;
        }
        if let Some(type_name) = self.type_name {
            write!(f, ", a {type_name}")?;
        }
        if let CallKind::Command {
            label: Some(label), ..
        } = &self.kind
        {
            write!(f, " ({label})")?;
        }
        write!(f, ", for {at_least}{:.1} s", self.elapsed.as_secs_f64())
    }
}
