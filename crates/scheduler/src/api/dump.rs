//! What a scheduler's threads are doing, as text, for a person with one that hangs.

use std::fmt;

use filch_process_table::ProcessList;

use crate::{Pid, ProcessInfo, RunningCall};

/// What a scheduler looked like, made by [`Handle::dump`](crate::Handle::dump): print it.
///
/// First come the workers and the lengths of the run queues, as [`filch_processors::Dump`] shows
/// them, and then the commands that run on [`BlockingThreads`](crate::BlockingThreads), each with
/// its process, thread and age; then the processes with the longest mailboxes, 64 at most:
/// [`Handle::list`](crate::Handle::list) has all; then, if there were any, how many [steps were
/// empty](crate::WorkerStats::empty_steps), and how many of them those eight processes took that
/// live and have the most. Taken piece by piece while everything goes on.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone)]
pub struct Dump {
    workers: filch_processors::Dump,
    commands: Vec<RunningCall>,
    live: usize,
    /// Some of those.
    processes: Vec<ProcessInfo>,
    empty_steps: u64,
    /// The processes that live and had the most of these.
    busy: Vec<(Pid, u32)>,
}

impl Dump {
    pub(crate) fn new(
        workers: filch_processors::Dump,
        commands: Vec<RunningCall>,
        (live, processes): (usize, Vec<ProcessInfo>),
        (empty_steps, busy): (u64, Vec<(Pid, u32)>),
    ) -> Self {
        Self {
            workers,
            commands,
            live,
            processes,
            empty_steps,
            busy,
        }
    }
}

impl fmt::Display for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.workers.fmt(f)?;
        let count = self.commands.len();
        writeln!(f, "{count} commands run on blocking threads")?;
        for command in &self.commands {
            writeln!(f, "  {command}")?;
        }
        writeln!(f, "{} processes live", self.live)?;
        if !self.processes.is_empty() {
            writeln!(f, "{}", ProcessList(&self.processes))?;
        }
        let more = self.live.saturating_sub(self.processes.len());
        if more > 0 {
            writeln!(f, "and {more} more, with no longer mailboxes")?;
        }
        if self.empty_steps > 0 {
            writeln!(
                f,
                "{} steps were given no event while commands of their process were under way",
                self.empty_steps
            )?;
        }
        for (process, steps) in &self.busy {
            writeln!(f, "  {steps} of process {process}")?;
        }
        Ok(())
    }
}
