//! The facts about a child that its supervisor reports.

use std::sync::Arc;
use std::time::Instant;

use filch_scheduler::Pid;

use crate::plan::child::{ChildId, State};

/// The facts about a child that its supervisor reports.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildInfo {
    /// Its id.
    pub id: ChildId,
    /// Its name, if it has one.
    pub name: Option<Arc<str>>,
    /// The stage of its lives.
    pub state: ChildState,
    /// Its process, if it has one.
    pub pid: Option<Pid>,
}

/// The stage of a child's lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChildState {
    /// It is being started, or it is a supervisor that is starting its own children.
    Starting,
    /// It has a process.
    Running,
    /// Its process has been told to end, and has not ended yet.
    Ending,
    /// It has no process, and waits for its restart.
    Waiting {
        /// The time of the restart.
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
