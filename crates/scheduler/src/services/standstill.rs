//! Waiting until nothing can run any more.

use std::fmt;

use filch_processors::NeverQuiescent;

use crate::{CalledFromInside, Handle, ProcessInfo, Protocol, Standstill};

/// Why there was no standstill to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StandstillError {
    /// Called on a worker of the same scheduler, which would run for as long as it waited.
    CalledFromInside,
    /// The workers have left, and what became runnable since will never run.
    ShutDown,
}

impl fmt::Display for StandstillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CalledFromInside => CalledFromInside.fmt(f),
            Self::ShutDown => NeverQuiescent.fmt(f),
        }
    }
}

impl std::error::Error for StandstillError {}

impl<P: Protocol> Handle<P> {
    /// Blocks until no process can run any more, unless a thread outside completes a command,
    /// sends, or submits; then says what each one waits for. Blocking, while anything is runnable.
    ///
    /// The standstill is exact: at one moment during the call all workers were idle and nothing was
    /// runnable, and until the last process had been looked at no step was taken.
    ///
    /// # Errors
    /// [`StandstillError`].
    pub fn wait_for_standstill(&self) -> Result<Standstill, StandstillError> {
        if self.is_worker() {
            return Err(StandstillError::CalledFromInside);
        }
        let processors = &self.shared.processors;
        loop {
            // Before all is quiet: what begins after this is seen below, however long it takes.
            let before = self.moves();
            let Ok(()) = processors.wait_quiescent() else {
                return Err(StandstillError::ShutDown);
            };
            let processes = self.list();
            // One may have been woken since, and have taken a step while others were looked at.
            if self.moves() == before && !processes.iter().any(ProcessInfo::can_run) {
                return Ok(Standstill::new(processes));
            }
            // A thread outside may have made one Ready and not put it into a queue yet, where it
            // could be seen: let it.
            filch_sync::thread::yield_now();
        }
    }

    /// Steps taken and processes ended: while all is quiet, it stays as it is.
    fn moves(&self) -> u64 {
        let counters = self.shared.counters.iter();
        counters
            .map(|counters| counters.snapshot())
            .map(|worker| worker.steps + worker.ended)
            .sum()
    }
}
