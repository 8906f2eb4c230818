//! The calls of the user's code that have not returned, by place, process and age; and the workers
//! that they run on.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use filch_blocking::Calls;
use filch_processors::{Inside, RunningTask};

use crate::process::command::CommandLabel;
use crate::{Completion, Handle, Pid, Protocol};

/// A call of the user's code that has not returned. Its [`Display`](fmt::Display) is a line for a
/// person whose program hangs.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunningCall {
    /// The name of its thread, as a debugger shows it.
    pub thread: String,
    /// The process that it runs for, if any.
    pub process: Option<Pid>,
    /// The name of the process's type, if the scheduler has a [journal](crate::Builder::observer).
    pub type_name: Option<&'static str>,
    /// The kind of call.
    pub kind: CallKind,
    /// The time that it has run: exact for commands, blocking calls and timers. A step has no
    /// clock: this is the time since a shutdown, a dump or
    /// [`Handle::running`](crate::Handle::running) first saw it.
    pub elapsed: Duration,
}

/// The kinds of [`RunningCall`].
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallKind {
    /// A command, on a thread of `BlockingThreads`.
    Command {
        /// Its tag.
        tag: u64,
        /// The label that it was given.
        label: Option<Cow<'static, str>>,
    },
    /// A step, or other code that a worker calls for a process that has not ended: the command
    /// handler, `close`, a hook, a destructor.
    Step,
    /// A [`blocking`](crate::Handle::blocking) call in a step.
    Blocking,
    /// A job of the pool that is [attached](crate::Handle::pool), from a thread outside or from
    /// another worker. It may sleep until a part of it has ended elsewhere.
    Job,
    /// A call after the end of a process: of [`on_exit`](crate::ProcessHandle::on_exit), or of the
    /// destructor of an output.
    AfterEnd,
    /// A call by a timer. The timers belonged to the command handler.
    Timer,
    /// A destructor at the scheduler's end: of the command handler, of the hooks, of a receiver, or
    /// of a worker's thread-local value.
    Destructor,
}

impl RunningCall {
    pub(crate) fn new(
        thread: String,
        process: Option<Pid>,
        kind: CallKind,
        elapsed: Duration,
    ) -> Self {
        Self {
            thread,
            process,
            type_name: None,
            kind,
            elapsed,
        }
    }
}

impl fmt::Display for RunningCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.thread)?;
        // Those that have no clock have run for at least as long as they were seen.
        let command;
        let (what, at_least) = match self.kind {
            CallKind::Command { tag, .. } => {
                command = format!("command {tag}");
                (&*command, "")
            }
            CallKind::Step => ("a step", "at least "),
            CallKind::Blocking => ("a blocking call in a step", ""),
            CallKind::Job => ("a job of the attached pool", "at least "),
            CallKind::AfterEnd => ("an `on_exit` call or destructor after the end", "at least "),
            CallKind::Timer => ("a timer's call", ""),
            CallKind::Destructor => ("a destructor at the scheduler's end", "at least "),
        };
        f.write_str(what)?;
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

impl<P: Protocol> Handle<P> {
    /// Returns the calls of the user's code that are under way: on the workers, and on
    /// `BlockingThreads` for this scheduler's processes. Takes some locks for a moment, and
    /// disturbs nothing else.
    pub fn running(&self) -> Vec<RunningCall> {
        let mut running = commands(&self.shared().calls);
        for command in &mut running {
            command.type_name = self.type_name(command.process);
        }
        let tasks = self.shared().processors.running();
        running.extend(tasks.into_iter().map(|task| self.call_of(task)));
        running
    }

    /// Returns a snapshot of its threads and run queues, to be printed when something hangs.
    pub fn workers_dump(&self) -> filch_processors::Dump {
        self.shared().processors.dump()
    }

    /// Returns the number of workers.
    pub fn workers(&self) -> usize {
        self.shared().processors.count()
    }

    fn type_name(&self, process: Option<Pid>) -> Option<&'static str> {
        let observer = self.shared().observer.as_ref()?;
        Some(observer.details(process?)?.type_name)
    }

    /// Returns the call that a worker is in the middle of.
    pub(crate) fn call_of(&self, task: RunningTask) -> RunningCall {
        let process = task.label.and_then(|label| self.labelled(label));
        // It has left its exit, so that its worker only tells of it.
        let has_exited = |pid| (self.table().find(pid)).is_none_or(|slot| slot.life.is_set());
        let kind = match task.inside {
            // Each process has a label, and jobs have none.
            Inside::ExternalTask => CallKind::Job,
            Inside::BlockingCall if task.label.is_none() => CallKind::Job,
            Inside::BlockingCall => CallKind::Blocking,
            Inside::Task if process.is_some_and(has_exited) => CallKind::AfterEnd,
            Inside::Task => CallKind::Step,
            _ => CallKind::Destructor,
        };
        let mut call = RunningCall::new(task.thread, process, kind, task.elapsed);
        call.type_name = self.type_name(process);
        call
    }
}

impl<P: Protocol> Completion<P> {
    /// Lists the calling thread as doing the command, until the result is dropped: a shutdown waits
    /// for it, and reports show it, with that label. Call it before asking whether the command [is
    /// wanted](crate::OpenCommand::is_wanted): a shutdown that has seen the process end, and then
    /// no call, knows that none will begin.
    pub fn begin_call(&self, label: Option<Cow<'static, str>>) -> impl Sized + use<P> {
        let label = (self.pid(), self.tag(), label);
        Calls::begin(&self.handle().shared().calls, label)
    }
}

/// Returns the commands that run on blocking threads.
pub(crate) fn commands(calls: &Calls<CommandLabel>) -> Vec<RunningCall> {
    let running = calls.running().into_iter().map(|call| {
        let (process, tag, label) = call.label;
        let kind = CallKind::Command { tag, label };
        RunningCall::new(call.thread, Some(process), kind, call.elapsed)
    });
    running.collect()
}
