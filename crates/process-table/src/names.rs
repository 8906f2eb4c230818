//! Which name means which process.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::pid::Pid;
use crate::table::Table;

/// Which name means which process.
///
/// A name is looked up far less often than a PID: a lock that readers share will do. No user's code
/// runs under it, and no pin is given back under it, since that may lead to
/// [`forget`](Self::forget).
#[derive(Debug, Default)]
pub struct NameRegistry {
    registry: RwLock<Registry>,
}

#[derive(Debug, Default)]
struct Registry {
    by_name: HashMap<Arc<str>, Pid>,
    /// The names of the occupant of each slot that has any.
    by_slot: HashMap<u32, Vec<Arc<str>>>,
}

impl NameRegistry {
    /// Gives the process `pid` of `table` a name, until it leaves. A process may have many. Takes a
    /// lock for a moment.
    ///
    /// # Errors
    /// [`RegisterError`], if a live process has that name, or this one does not live.
    pub fn register<Body, Item: Send, Exit>(
        &self,
        table: &Table<Body, Item, Exit>,
        name: &str,
        pid: Pid,
    ) -> Result<(), RegisterError> {
        let gone = || RegisterError::Gone {
            name: name.into(),
            pid,
        };
        // With the pin it cannot leave the table before the name is in, so its leaving finds the
        // name.
        let process = table.pin(pid).ok_or_else(gone)?;
        process.slot().notify_when_vacated();
        if process.slot().events.is_closed() {
            return Err(gone());
        }
        let name: Arc<str> = name.into();
        let mut stale = None;
        while let Err(holder) = self.give(&name, pid, stale) {
            if table.lives(holder) {
                return Err(RegisterError::Taken { name, holder });
            }
            // It has ended, and a pin still holds its slot. No generation comes twice.
            stale = Some(holder);
        }
        Ok(())
    }

    fn read(&self) -> RwLockReadGuard<'_, Registry> {
        self.registry.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Registry> {
        self.registry
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The process that has the name.
    pub fn holder(&self, name: &str) -> Option<Pid> {
        self.read().by_name.get(name).copied()
    }

    /// Gives `name` to `pid`, if no process except `stale` has it.
    ///
    /// # Errors
    /// The process that has it.
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

    /// Takes the name away. Which process had it.
    pub fn remove(&self, name: &str) -> Option<Pid> {
        self.write().remove(name)
    }

    /// The slot's occupant is gone, with its names.
    pub fn forget(&self, slot: u32) {
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
    /// No live process of this table has that PID.
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
    use std::sync::Arc;

    use super::{NameRegistry, RegisterError};
    use crate::{Node, Placement, Table};

    #[test]
    fn nothing_of_a_name_outlives_its_process() {
        let names = Arc::new(NameRegistry::default());
        let table = Table::<(), (), ()>::new(Node::default()).on_vacated({
            let names = Arc::clone(&names);
            move |slot| names.forget(slot)
        });
        for round in 0..100 {
            let (pid, slot) = table.occupy(&Placement::default()).unwrap();
            for name in ["a", "b", "c", &round.to_string()] {
                assert_eq!(names.register(&table, name, pid), Ok(()));
            }
            let taken = names.register(&table, "a", pid);
            assert!(matches!(taken, Err(RegisterError::Taken { holder, .. }) if holder == pid));
            assert_eq!(names.remove("b"), Some(pid));
            assert_eq!(names.holder("c"), Some(pid));
            slot.events.close();
            // SAFETY: the two pins that `occupy` gives.
            unsafe {
                table.unpin(pid.slot());
                table.unpin(pid.slot());
            }
            assert_eq!(names.holder("a"), None);
        }
        let registry = names.read();
        assert!(registry.by_name.is_empty() && registry.by_slot.is_empty());
    }
}
