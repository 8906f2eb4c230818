//! Which name means which process.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use filch_process_table::Pid;

/// Which name means which process.
///
/// A name is looked up far less often than a PID: a lock that readers share will do. No user's code
/// runs under it, and no pin is given back under it, since that may lead to
/// [`forget`](Self::forget).
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

    /// The process that has the name.
    pub(crate) fn holder(&self, name: &str) -> Option<Pid> {
        self.read().by_name.get(name).copied()
    }

    /// Gives `name` to `pid`, if no process except `stale` has it.
    ///
    /// # Errors
    /// The process that has it.
    pub(crate) fn give(&self, name: &Arc<str>, pid: Pid, stale: Option<Pid>) -> Result<(), Pid> {
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
    pub(crate) fn remove(&self, name: &str) -> Option<Pid> {
        self.write().remove(name)
    }

    /// Whether no process has a name.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        let registry = self.read();
        registry.by_name.is_empty() && registry.by_slot.is_empty()
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
