//! Names for processes that others look for.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::{Handle, Pid, Protocol};

/// Which name means which process.
///
/// A name is looked up far less often than a PID, since whoever has looked keeps the PID: a lock
/// that readers share will do. Nobody's code runs under it, and no pin is given back under it: that
/// may lead to [`forget`](Self::forget).
#[derive(Default)]
pub(crate) struct Names {
    registry: RwLock<Registry>,
}

#[derive(Default)]
struct Registry {
    by_name: HashMap<Arc<str>, Pid>,
    /// The names of the occupant of each slot that has any.
    by_slot: HashMap<u32, Vec<Arc<str>>>,
}

impl Names {
    fn read(&self) -> RwLockReadGuard<'_, Registry> {
        self.registry.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Registry> {
        self.registry
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn holder(&self, name: &str) -> Option<Pid> {
        self.read().by_name.get(name).copied()
    }

    /// Gives `name` to `pid`, if nobody but `stale` has it.
    ///
    /// # Errors
    /// Who has it.
    fn give(&self, name: &Arc<str>, pid: Pid, stale: Option<Pid>) -> Result<(), Pid> {
        let mut registry = self.write();
        if let Some(&holder) = registry.by_name.get(name) {
            if Some(holder) != stale {
                return Err(holder);
            }
            registry.remove(name);
        }
        registry.by_name.insert(Arc::clone(name), pid);
        registry
            .by_slot
            .entry(pid.slot())
            .or_default()
            .push(Arc::clone(name));
        Ok(())
    }

    /// The slot's occupant is gone, with its names.
    pub(crate) fn forget(&self, slot: u32) {
        let mut registry = self.write();
        for name in registry.by_slot.remove(&slot).unwrap_or_default() {
            registry.by_name.remove(&name);
        }
    }
}

impl Registry {
    fn remove(&mut self, name: &str) -> Option<Pid> {
        let pid = self.by_name.remove(name)?;
        if let Some(names) = self.by_slot.get_mut(&pid.slot()) {
            names.retain(|own| **own != *name);
        }
        Some(pid)
    }
}

impl<P: Protocol> Handle<P> {
    /// Gives the process `pid` of this scheduler a name, until it ends. A process may have many.
    /// Takes a lock for a moment.
    ///
    /// ```
    /// # enum Any {}
    /// # impl filch_scheduler::Protocol for Any {
    /// #     type Input = (); type Message = (); type Command = (); type Reply = (); type Output = (); type Error = String;
    /// # }
    /// # use filch_scheduler::{RegisterError, Scheduler};
    /// let scheduler = Scheduler::<Any>::builder().workers(1).build()?;
    /// let clerk = scheduler.spawn(std::future::pending::<()>())?;
    /// scheduler.register("clerk", clerk.pid())?;
    /// assert_eq!(scheduler.whereis("clerk"), Some(clerk.pid()));
    /// assert!(matches!(scheduler.register("clerk", clerk.pid()), Err(RegisterError::Taken { .. })));
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
        // It cannot leave the table before the name is in: whoever cleans its slot finds the name.
        let process = self.table().pin(pid).ok_or_else(gone)?;
        // Before the name is in, as the last one out may not come later; if it never gets in, there
        // is nothing to forget.
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
            // It has ended, and somebody still holds its slot. No generation comes twice.
            stale = Some(holder);
        }
        Ok(())
    }

    /// Takes a name away. Returns the process that had it, if a live one had. Takes a lock for a
    /// moment.
    pub fn unregister(&self, name: &str) -> Option<Pid> {
        let removed = self.shared.names.write().remove(name);
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
        /// Who has it.
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

impl Error for RegisterError {}

#[cfg(test)]
mod tests {
    use crate::Scheduler;
    use crate::protocol::Nothing;

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
        // Who has joined a process may be a moment ahead of the worker that leaves its slot.
        let handle = scheduler.handle();
        drop(scheduler);
        let registry = handle.shared.names.read();
        assert_eq!(registry.by_name.len(), 0);
        assert_eq!(registry.by_slot.len(), 0);
    }
}
