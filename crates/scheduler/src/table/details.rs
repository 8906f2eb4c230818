//! What is known of a process that somebody has kept a journal of.

use std::time::Duration;

use crate::table::pid::Pid;

/// What a [`ProcessInfo`](crate::table::ProcessInfo) says besides of a process that a journal was kept of.
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
