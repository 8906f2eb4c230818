//! The state of a scheduler's threads as text, for a person whose scheduler hangs.

use std::cmp::Reverse;
use std::fmt;

use filch_scheduler::{CallKind, Handle, Pid, ProcessInfo, ProcessList, Protocol, RunningCall};

/// A snapshot of a scheduler, made by [`HandleExt::dump`](crate::HandleExt::dump): print it.
///
/// It shows the workers and the lengths of the run queues, as [`Handle::workers_dump`] does; then
/// the commands that run on [`BlockingThreads`](crate::BlockingThreads), each with its process,
/// thread and age; then up to 64 processes with the longest mailboxes
/// ([`Handle::list`](Handle::list) has all); then, if there were any, the number of [empty
/// steps](filch_scheduler::WorkerStats::empty_steps), and the eight live processes that took most
/// of them. Taken piece by piece while everything goes on.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone)]
pub struct Dump {
    workers: String,
    commands: Vec<RunningCall>,
    live: usize,
    /// The processes with the longest mailboxes.
    processes: Vec<ProcessInfo>,
    empty_steps: u64,
    /// The live processes with the most empty steps.
    busy: Vec<(Pid, u32)>,
}

/// The processes shown in a dump.
const SHOWN: usize = 64;

/// The processes with empty steps shown in a dump.
const SHOWN_IN_VAIN: usize = 8;

impl Dump {
    /// See [`HandleExt::dump`](crate::HandleExt::dump).
    pub(crate) fn of<P: Protocol>(scheduler: &Handle<P>) -> Self {
        let mut processes = scheduler.list();
        let empty_steps = scheduler.stats().total().empty_steps;
        let mut busy: Vec<_> = processes
            .iter()
            .filter(|info| info.empty_steps > 0)
            .map(|info| (info.pid, info.empty_steps))
            .collect();
        busy.sort_by_key(|&(_, steps)| Reverse(steps));
        busy.truncate(SHOWN_IN_VAIN);
        let live = processes.len();
        let mailbox = |info: &ProcessInfo| info.undelivered.unwrap_or_default() as usize;
        processes
            .sort_by_key(|info| Reverse((mailbox(info).max(info.queued.events), info.outstanding)));
        processes.truncate(SHOWN);
        let mut commands = scheduler.running();
        commands.retain(|call| matches!(call.kind, CallKind::Command { .. }));
        Self {
            workers: scheduler.workers_dump().to_string(),
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
        f.write_str(&self.workers)?;
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
