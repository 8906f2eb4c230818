//! What is told of processes and their commands.

use std::any::Any;

use crate::{Pid, ProcessDetails};

/// What is told of processes and their commands, to report of them: a journal. Not of messages, nor of
/// steps. Each call is on a thread that does the scheduler's work.
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
