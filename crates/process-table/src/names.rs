//! Which name means which process.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::no_such_process::NoSuchProcess;
use crate::pid::Pid;
use crate::table::Table;

/// Which name means which process.
///
/// A name is looked up far less often than a PID: a lock that readers share will do. Each time it
/// is held for a number of look-ups that does not depend on how many names there are. No user's
/// code runs under it, and no pin is given back under it, since that may lead to
/// [`forget`](Self::forget).
#[derive(Debug, Default)]
pub struct NameRegistry {
    registry: RwLock<Registry>,
}

/// No hash maps: these would keep the memory of the most names that there ever were, and move all
/// of them under the lock when they grow.
#[derive(Debug, Default)]
struct Registry {
    by_name: BTreeMap<Arc<str>, Holder>,
    /// The names of the occupant of each slot that has any, in no order.
    by_slot: BTreeMap<u32, Vec<Arc<str>>>,
    /// How many entries were looked up to take names away.
    #[cfg(test)]
    looked_up: usize,
}

/// The process that has a name.
#[derive(Debug, Clone, Copy)]
struct Holder {
    pid: Pid,
    /// Where the name stands among those of its slot.
    position: usize,
}

/// How many names of an ended process are taken away before others get the lock.
const BATCH: usize = 64;

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
        // With the pin it cannot leave the table before the name is in, so its leaving finds the
        // name.
        let process = table.pin(pid);
        let lives = process.as_ref().is_some_and(|process| {
            process.slot().notify_when_vacated();
            !process.slot().events.is_closed()
        });
        if !lives {
            return Err(RegisterError::NoSuchProcess(NoSuchProcess { pid }));
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
        self.read().by_name.get(name).map(|holder| holder.pid)
    }

    /// The names of the process in that slot, in no order. The caller holds a pin on it, or they
    /// may be those of another one.
    pub fn of(&self, slot: u32) -> Vec<Arc<str>> {
        self.read().by_slot.get(&slot).cloned().unwrap_or_default()
    }

    /// Gives `name` to `pid`, if no process except `stale` has it.
    ///
    /// # Errors
    /// The process that has it.
    fn give(&self, name: &Arc<str>, pid: Pid, stale: Option<Pid>) -> Result<(), Pid> {
        let mut registry = self.write();
        if let Some(&holder) = registry.by_name.get(name) {
            if Some(holder.pid) != stale {
                return Err(holder.pid);
            }
            registry.remove(name);
        }
        let names = registry.by_slot.entry(pid.slot()).or_default();
        let position = names.len();
        names.push(Arc::clone(name));
        let holder = Holder { pid, position };
        registry.by_name.insert(Arc::clone(name), holder);
        Ok(())
    }

    /// Takes the name away. Which process had it.
    pub fn remove(&self, name: &str) -> Option<Pid> {
        self.write().remove(name)
    }

    /// The slot's occupant is gone, with its names. To be called before the slot gets its next
    /// occupant.
    ///
    /// Takes the lock for a few names at a time. A name that is given to another process meanwhile
    /// stays that one's.
    pub fn forget(&self, slot: u32) {
        let names = self.write().by_slot.remove(&slot);
        for batch in names.unwrap_or_default().chunks(BATCH) {
            let mut registry = self.write();
            for name in batch {
                registry.forget(name, slot);
            }
        }
    }
}

impl Registry {
    fn remove(&mut self, name: &str) -> Option<Pid> {
        let Holder { pid, position } = self.by_name.remove(name)?;
        self.count_look_up();
        // None while its process is being forgotten.
        let Some(names) = self.by_slot.get_mut(&pid.slot()) else {
            return Some(pid);
        };
        names.swap_remove(position);
        if let Some(moved) = names.get(position) {
            if let Some(holder) = self.by_name.get_mut(moved) {
                holder.position = position;
            }
            self.count_look_up();
        } else if names.is_empty() {
            self.by_slot.remove(&pid.slot());
        }
        Some(pid)
    }

    /// Takes the name away from the slot's last occupant, if no other process has been given it.
    fn forget(&mut self, name: &str, slot: u32) {
        self.count_look_up();
        if self
            .by_name
            .get(name)
            .is_some_and(|own| own.pid.slot() == slot)
        {
            self.by_name.remove(name);
        }
    }

    #[inline]
    fn count_look_up(&mut self) {
        #[cfg(test)]
        {
            self.looked_up += 1;
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{NameRegistry, RegisterError};
    use crate::{Node, Pid, Placement, Table};

    type Processes = Table<(), (), ()>;

    fn processes() -> (Processes, Arc<NameRegistry>) {
        let names = Arc::new(NameRegistry::default());
        let table = Processes::new(Node::default()).on_vacated({
            let names = Arc::clone(&names);
            move |slot| names.forget(slot)
        });
        (table, names)
    }

    fn end(table: &Processes, pid: Pid) {
        table.slot(pid.slot()).events.close();
        // SAFETY: the two pins that `occupy` gives.
        unsafe {
            let _ = table.unpin(table.slot(pid.slot()));
            let _ = table.unpin(table.slot(pid.slot()));
        }
    }

    #[test]
    fn nothing_of_a_name_outlives_its_process() {
        let (table, names) = processes();
        for round in 0..100 {
            let pid = table.pid_of(table.occupy(&Placement::default()).unwrap());
            for name in ["a", "b", "c", &round.to_string()] {
                assert_eq!(names.register(&table, name, pid), Ok(()));
            }
            let taken = names.register(&table, "a", pid);
            assert!(matches!(taken, Err(RegisterError::Taken { holder, .. }) if holder == pid));
            assert_eq!(names.remove("b"), Some(pid));
            assert_eq!(names.holder("c"), Some(pid));
            end(&table, pid);
            assert_eq!(names.holder("a"), None);
        }
        let registry = names.read();
        assert!(registry.by_name.is_empty() && registry.by_slot.is_empty());
    }

    /// A process that has ended and is pinned still: it gets no name, and loses those it had to
    /// others. What it has left in the lists does not come in the way of its heir's.
    #[test]
    fn an_ended_process_leaves_its_names_to_others() {
        let (table, names) = processes();
        let dead = table.pid_of(table.occupy(&Placement::default()).unwrap());
        let heir = table.pid_of(table.occupy(&Placement::default()).unwrap());
        for (name, pid) in [("first", dead), ("name", dead), ("own", heir)] {
            assert_eq!(names.register(&table, name, pid), Ok(()));
        }
        table.slot(dead.slot()).events.close();
        let refused = names.register(&table, "late", dead);
        assert!(matches!(refused, Err(RegisterError::NoSuchProcess(error)) if error.pid == dead));
        assert_eq!(names.register(&table, "name", heir), Ok(()));
        assert_eq!(names.remove("first"), Some(dead));
        assert_eq!(names.remove("name"), Some(heir));
        assert_eq!(names.holder("own"), Some(heir));
        for pid in [dead, heir] {
            end(&table, pid);
        }
        let registry = names.read();
        assert!(registry.by_name.is_empty() && registry.by_slot.is_empty());
    }

    /// Taken away from the front, from the back and from the middle. A failure: a name is left, or
    /// another one goes with it; or a look-up per name that the process still has.
    #[test]
    fn a_name_among_many_is_taken_away_by_a_few_look_ups() {
        const NAMES: usize = 3_000;
        let (table, names) = processes();
        let pid = table.pid_of(table.occupy(&Placement::default()).unwrap());
        let name = |number: usize| number.to_string();
        for number in 0..NAMES {
            assert_eq!(names.register(&table, &name(number), pid), Ok(()));
        }
        let middle_first = (0..NAMES).map(|index| (index * 1_009 + NAMES / 2) % NAMES);
        for (taken, number) in middle_first.take(NAMES - 10).enumerate() {
            assert_eq!(names.remove(&name(number)), Some(pid));
            assert_eq!(names.remove(&name(number)), None);
            assert_eq!(names.read().by_name.len(), NAMES - 1 - taken);
        }
        assert!(names.read().looked_up <= 2 * NAMES);
        {
            let registry = names.read();
            let own = &registry.by_slot[&pid.slot()];
            assert_eq!(own.len(), 10);
            for (position, name) in own.iter().enumerate() {
                assert_eq!(registry.by_name[name].position, position);
            }
        }
        end(&table, pid);
        let registry = names.read();
        assert!(registry.by_name.is_empty() && registry.by_slot.is_empty());
        assert!(registry.looked_up <= 2 * NAMES + 10);
    }

    /// The lock comes free between the batches: what another thread does with a name meanwhile.
    #[test]
    fn a_name_that_finds_a_new_holder_meanwhile_is_kept() {
        let (table, names) = processes();
        let dead = table.pid_of(table.occupy(&Placement::default()).unwrap());
        let heir = table.pid_of(table.occupy(&Placement::default()).unwrap());
        for name in ["inherited", "taken away", "left"] {
            assert_eq!(names.register(&table, name, dead), Ok(()));
        }
        table.slot(dead.slot()).events.close();
        let list = names.write().by_slot.remove(&dead.slot()).unwrap();
        assert_eq!(names.register(&table, "inherited", heir), Ok(()));
        assert_eq!(names.remove("taken away"), Some(dead));
        for name in &list {
            names.write().forget(name, dead.slot());
        }
        assert_eq!(names.holder("inherited"), Some(heir));
        assert_eq!(names.holder("left"), None);
        assert_eq!(names.remove("inherited"), Some(heir));
        let registry = names.read();
        assert!(registry.by_name.is_empty() && registry.by_slot.is_empty());
    }
}
