//! What is told of processes and their commands.

use std::any::Any;
use std::time::Duration;

use crate::Pid;

/// What is told of processes and their commands, to report of them: a journal. Not of messages, nor
/// of steps. Each call is on a thread that does the scheduler's work.
pub trait Observer: Any + Send + Sync {
    /// A process begins, which was submitted in a step of `parent`, if in one.
    fn begin(&self, pid: Pid, type_name: &'static str, parent: Option<Pid>);

    /// It goes on as another type.
    fn replace(&self, pid: Pid, type_name: &'static str);

    /// It has ended, or was not started.
    fn end(&self, pid: Pid);

    /// A command of it begins. Returns a number for it.
    fn begin_command(&self, pid: Pid, tag: u64) -> u64;

    /// That command calls the process `to`.
    fn note_call(&self, pid: Pid, number: u64, to: Pid, is_limited: bool);

    /// That command is completed. Perhaps its process has ended before.
    fn end_command(&self, pid: Pid, number: u64);

    /// What is known of the process, for reports.
    fn details(&self, pid: Pid) -> Option<ProcessDetails>;

    /// The name of its type, for reports.
    fn type_name(&self, pid: Pid) -> Option<&'static str>;
}

/// What a [`ProcessInfo`](crate::observe::info::ProcessInfo) says besides of a process that a
/// journal was kept of.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessDetails {
    /// The name of its type, or of its future's.
    pub type_name: &'static str,
    /// For how long it has been there.
    pub age: Duration,
    /// The process in whose step it was submitted, if it was in one. That may have ended.
    pub parent: Option<Pid>,
    /// Its commands and calls that nobody has completed, the oldest first.
    pub commands: Vec<PendingCommand>,
}

/// A command that nobody has completed.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingCommand {
    /// The tag that its process gave it.
    pub tag: u64,
    /// For how long it has been under way.
    pub age: Duration,
    /// The process that it calls, if it is a call.
    pub calls: Option<Pid>,
    /// Whether that is a call with a time limit.
    pub is_limited: bool,
}

impl ProcessDetails {
    /// Of a process without commands.
    pub fn new(type_name: &'static str, age: Duration, parent: Option<Pid>) -> Self {
        Self {
            type_name,
            age,
            parent,
            commands: Vec::new(),
        }
    }
}

impl PendingCommand {
    /// A command that calls no process.
    pub fn new(tag: u64, age: Duration) -> Self {
        Self {
            tag,
            age,
            calls: None,
            is_limited: false,
        }
    }
}
