//! What a supervisor tells of a child.

use std::sync::Arc;
use std::time::Instant;

use filch_scheduler::Pid;

use crate::plan::child::State;
use crate::plan::child_id::ChildId;

/// What a supervisor tells of a child.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildInfo {
    /// Which one.
    pub id: ChildId,
    /// Its name, if it has one.
    pub name: Option<Arc<str>>,
    /// Where it is in its lives.
    pub state: ChildState,
    /// Its process, if it has one.
    pub pid: Option<Pid>,
}

/// Where a child is in its lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChildState {
    /// It has a process, which is a supervisor that starts its own children.
    Starting,
    /// It has a process.
    Running,
    /// Its process is to end, and has not ended yet.
    Ending,
    /// It has no process, and is restarted then.
    Waiting {
        /// When.
        until: Instant,
    },
    /// It has no process.
    Ended,
}

impl From<&State> for ChildState {
    fn from(state: &State) -> Self {
        match *state {
            State::Ended | State::Fallen { .. } => Self::Ended,
            State::Waiting { until } => Self::Waiting { until },
            State::Starting { .. } => Self::Starting,
            State::Running { .. } => Self::Running,
            State::Ending { .. } => Self::Ending,
        }
    }
}
