//! Names for processes that others look for.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use filch_scheduler::{EndCall, Extension, Handle, NoSuchProcess, Pid, ProcessInfo, Protocol};

pub(crate) fn register<P: Protocol>(
    scheduler: &Handle<P>,
    name: &str,
    pid: Pid,
) -> Result<(), RegisterError> {
    if !scheduler.lives(pid) {
        return Err(RegisterError::NoSuchProcess(NoSuchProcess { pid }));
    }
    let registry = scheduler.extension::<NameRegistry>();
    let name: Arc<str> = name.into();
    let mut stale = None;
    let is_first = loop {
        match registry.give(&name, pid, stale) {
            Ok(is_first) => break is_first,
            Err(holder) if scheduler.lives(holder) => {
                return Err(RegisterError::Taken { name, holder });
            }
            // It has ended. No generation comes twice.
            Err(holder) => stale = Some(holder),
        }
    };
    if is_first {
        let own = Arc::clone(&registry);
        // If it has ended meanwhile, its names go here and now.
        let at_end = scheduler.at_end(pid, move |_| own.forget(pid));
        let unneeded = registry.write().set_end(pid, at_end);
        // Not under the lock.
        if let Some(unneeded) = unneeded {
            unneeded.cancel();
        }
    }
    Ok(())
}

pub(crate) fn unregister<P: Protocol>(scheduler: &Handle<P>, name: &str) -> Option<Pid> {
    let removed = scheduler.extension::<NameRegistry>().take(name)?;
    scheduler.lives(removed).then_some(removed)
}

pub(crate) fn whereis<P: Protocol>(scheduler: &Handle<P>, name: &str) -> Option<Pid> {
    let registry = scheduler.extension::<NameRegistry>();
    let holder = registry.read().by_name.get(name).map(|holder| holder.pid);
    holder.filter(|&pid| scheduler.lives(pid))
}

pub(crate) fn names<P: Protocol>(scheduler: &Handle<P>, pid: Pid) -> Vec<Arc<str>> {
    let registry = scheduler.extension::<NameRegistry>();
    let names = registry
        .read()
        .by_pid
        .get(&pid)
        .map(|own| own.names.clone());
    names.unwrap_or_default()
}

/// Which name means which process.
///
/// A name is looked up far less often than a PID: a lock that readers share will do. Each time it
/// is held for a number of look-ups that does not depend on how many names there are. No user's
/// code runs under it.
#[derive(Debug, Default)]
struct NameRegistry {
    registry: RwLock<Registry>,
}

impl Extension for NameRegistry {
    fn add_to(&self, report: &mut ProcessInfo) {
        if let Some(own) = self.read().by_pid.get(&report.pid) {
            report.names.clone_from(&own.names);
        }
    }
}

/// No hash maps: these would keep the memory of the most names that there ever were, and move all
/// of them under the lock when they grow.
#[derive(Debug, Default)]
struct Registry {
    by_name: BTreeMap<Arc<str>, Holder>,
    /// The names of each process that has any.
    by_pid: BTreeMap<Pid, Names>,
    #[cfg(test)]
    looked_up: usize,
}

/// The names of one process.
#[derive(Debug, Default)]
struct Names {
    /// In no order.
    names: Vec<Arc<str>>,
    /// Takes them away. `None` for a moment, before it is with the process.
    at_end: Option<EndCall>,
}

/// The process that has a name.
#[derive(Debug, Clone, Copy)]
struct Holder {
    pid: Pid,
    /// Where the name stands among its process's.
    position: usize,
}

/// How many names of an ended process are taken away before others get the lock.
const BATCH: usize = 64;

impl NameRegistry {
    fn read(&self) -> RwLockReadGuard<'_, Registry> {
        self.registry.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Registry> {
        self.registry
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives `name` to `pid`, if no process except `stale` has it.
    ///
    /// Whether that is its first one.
    ///
    /// # Errors
    /// The process that has it.
    fn give(&self, name: &Arc<str>, pid: Pid, stale: Option<Pid>) -> Result<bool, Pid> {
        let mut left = None;
        let mut registry = self.write();
        if let Some(&holder) = registry.by_name.get(name) {
            if Some(holder.pid) != stale {
                return Err(holder.pid);
            }
            // It has ended: its call is under way, or was.
            left = registry.remove(name);
        }
        let own = registry.by_pid.entry(pid).or_default();
        let position = own.names.len();
        own.names.push(Arc::clone(name));
        let holder = Holder { pid, position };
        registry.by_name.insert(Arc::clone(name), holder);
        // Not under the lock.
        drop(registry);
        drop(left);
        Ok(position == 0)
    }

    /// Takes the name away. Returns the process that had it.
    fn take(&self, name: &str) -> Option<Pid> {
        let (pid, at_end) = self.write().remove(name)?;
        // Not under the lock.
        if let Some(at_end) = at_end {
            at_end.cancel();
        }
        Some(pid)
    }

    /// The process has ended, and its names go. Takes the lock for a few names at a time. A name
    /// that is given to another process meanwhile stays that one's.
    fn forget(&self, pid: Pid) {
        let own = self.write().by_pid.remove(&pid);
        for batch in own.unwrap_or_default().names.chunks(BATCH) {
            let mut registry = self.write();
            for name in batch {
                registry.forget(name, pid);
            }
        }
    }
}

impl Registry {
    /// Returns the process that had the name; and what it has at its end, if that was its last one.
    fn remove(&mut self, name: &str) -> Option<(Pid, Option<EndCall>)> {
        let Holder { pid, position } = self.by_name.remove(name)?;
        self.count_look_up();
        // None while its process is being forgotten.
        let Some(own) = self.by_pid.get_mut(&pid) else {
            return Some((pid, None));
        };
        own.names.swap_remove(position);
        let mut at_end = None;
        if let Some(moved) = own.names.get(position) {
            if let Some(holder) = self.by_name.get_mut(moved) {
                holder.position = position;
            }
            self.count_look_up();
        } else if own.names.is_empty() {
            at_end = self.by_pid.remove(&pid).and_then(|own| own.at_end);
        }
        Some((pid, at_end))
    }

    /// What takes the names of the process away at its end. It comes back if it is not needed:
    /// there are none by now, or others do.
    fn set_end(&mut self, pid: Pid, at_end: EndCall) -> Option<EndCall> {
        match self.by_pid.get_mut(&pid) {
            Some(own) if own.at_end.is_none() => own.at_end.replace(at_end),
            _ => Some(at_end),
        }
    }

    #[inline]
    fn count_look_up(&mut self) {
        #[cfg(test)]
        {
            self.looked_up += 1;
        }
    }

    /// Takes the name away from the process, if no other process has been given it.
    fn forget(&mut self, name: &str, pid: Pid) {
        self.count_look_up();
        if self.by_name.get(name).is_some_and(|own| own.pid == pid) {
            self.by_name.remove(name);
        }
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
    NoSuchProcess(NoSuchProcess),
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken { name, holder } => {
                write!(f, "the name `{name}` is taken by process {holder}")
            }
            Self::NoSuchProcess(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RegisterError {}

#[cfg(all(test, not(shuttle)))]
mod tests;
