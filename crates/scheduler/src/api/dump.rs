//! What a scheduler's threads are doing, as text, for a person with one that hangs.

use std::fmt;

use crate::RunningCall;

/// What a scheduler looked like, made by [`Handle::dump`](crate::Handle::dump): print it.
///
/// First come the workers, as [`filch_processors::Dump`] shows them, and then the commands that run
/// on [`BlockingThreads`](crate::BlockingThreads), each with its process, thread and age; then, if
/// there were any, how many [steps were empty](crate::WorkerStats::empty_steps). Taken
/// piece by piece while everything goes on.
#[derive(Debug, Clone)]
pub struct Dump {
    workers: filch_processors::Dump,
    commands: Vec<RunningCall>,
    empty_steps: u64,
}

impl Dump {
    pub(crate) fn new(
        workers: filch_processors::Dump,
        commands: Vec<RunningCall>,
        empty_steps: u64,
    ) -> Self {
        Self {
            workers,
            commands,
            empty_steps,
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
        if self.empty_steps > 0 {
            writeln!(
                f,
                "{} steps were given no event while commands of their process were under way",
                self.empty_steps
            )?;
        }
        Ok(())
    }
}
