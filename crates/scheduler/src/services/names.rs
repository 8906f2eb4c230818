//! Names for processes that others look for.

use std::fmt;
use std::sync::Arc;

use filch_process_table::Pid;

use crate::api::handle::Handle;
use crate::protocol::Protocol;

impl<P: Protocol> Handle<P> {
    /// Gives the process `pid` of this scheduler a name, until it ends. A process may have many.
    /// Takes a lock for a moment.
    ///
    /// ```
    /// # enum Any {}
    /// # impl filch_scheduler::Protocol for Any {
    /// #     type Input = (); type Message = (); type Command = (); type Reply = ();
    /// #     type Output = (); type Error = String;
    /// # }
    /// # use filch_scheduler::{RegisterError, Scheduler};
    /// let scheduler = Scheduler::<Any>::builder().workers(1).build()?;
    /// let clerk = scheduler.spawn(std::future::pending::<()>())?;
    /// scheduler.register("clerk", clerk.pid())?;
    /// assert_eq!(scheduler.whereis("clerk"), Some(clerk.pid()));
    /// let again = scheduler.register("clerk", clerk.pid());
    /// assert!(matches!(again, Err(RegisterError::Taken { .. })));
    ///
    /// clerk.abort();
    /// assert!(clerk.join().is_err());
    /// assert_eq!(scheduler.whereis("clerk"), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RegisterError`], if a live process has that name, or the process has ended or is of
    /// another scheduler.
    pub fn register(&self, name: &str, pid: Pid) -> Result<(), RegisterError> {
        let gone = || RegisterError::Gone {
            name: name.into(),
            pid,
        };
        // With the pin it cannot leave the table before the name is in, so its leaving finds the
        // name.
        let process = self.table().pin(pid).ok_or_else(gone)?;
        process.slot().notify_when_vacated();
        if process.slot().events.is_closed() {
            return Err(gone());
        }
        let name: Arc<str> = name.into();
        let mut stale = None;
        while let Err(holder) = self.shared.names.give(&name, pid, stale) {
            if self.lives(holder) {
                return Err(RegisterError::Taken { name, holder });
            }
            // It has ended, and a pin still holds its slot. No generation comes twice.
            stale = Some(holder);
        }
        Ok(())
    }

    /// Takes a name away. Returns the process that had it, if a live one had. Takes a lock for a
    /// moment.
    pub fn unregister(&self, name: &str) -> Option<Pid> {
        let removed = self.shared.names.remove(name);
        removed.filter(|&pid| self.lives(pid))
    }

    /// The process of that name, if it lives. Takes a shared lock for a moment.
    pub fn whereis(&self, name: &str) -> Option<Pid> {
        let holder = self.shared.names.holder(name);
        holder.filter(|&pid| self.lives(pid))
    }

    /// Whether the process lives, and is of this scheduler.
    fn lives(&self, pid: Pid) -> bool {
        let process = self.table().pin(pid);
        process.is_some_and(|process| !process.slot().events.is_closed())
    }
}

/// Why a process did not get a name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// A live process has that name.
    Taken {
        /// The name.
        name: Arc<str>,
        /// The process that has it.
        holder: Pid,
    },
    /// No live process of this scheduler has that PID.
    Gone {
        /// The name.
        name: Arc<str>,
        /// The PID.
        pid: Pid,
    },
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken { name, holder } => {
                write!(f, "the name `{name}` is taken by process {holder}")
            }
            Self::Gone { name, pid } => write!(
                f,
                "no live process {pid} to name `{name}`: it has ended, or is of another scheduler"
            ),
        }
    }
}

impl std::error::Error for RegisterError {}

#[cfg(test)]
mod tests {
    use crate::protocol::Nothing;
    use crate::scheduler::Scheduler;

    #[test]
    fn nothing_of_a_name_outlives_its_process() {
        let scheduler = Scheduler::<Nothing>::builder().workers(2).build().unwrap();
        for round in 0..100 {
            let process = scheduler.spawn(std::future::pending::<()>()).unwrap();
            for name in ["a", "b", "c"] {
                scheduler.register(name, process.pid()).unwrap();
            }
            scheduler
                .register(&round.to_string(), process.pid())
                .unwrap();
            scheduler.unregister("b");
            process.abort();
            assert!(process.join().is_err());
        }
        // A thread that has joined a process may be ahead of the worker that leaves its slot.
        let handle = scheduler.handle();
        drop(scheduler);
        assert!(handle.shared.names.is_empty());
    }
}
