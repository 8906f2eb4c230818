//! Names for processes that others look for, and groups of processes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use filch_scheduler::{Extension, Handle, NoSuchProcess, Pid, Protocol, SendError};

/// The names and groups of a scheduler's processes.
///
/// A process that has ended has none: each look-up checks that it lives. So nothing is done at its
/// end. Dead entries are swept out before their map would grow, and by reports: there are at most
/// twice as many entries as ever lived at a time. No user's code runs under the lock.
#[derive(Debug, Default)]
struct Registry(RwLock<Tables>);

#[derive(Debug, Default)]
struct Tables {
    names: HashMap<Arc<str>, Pid>,
    /// The members in the order in which they joined.
    groups: HashMap<Arc<str>, Vec<Pid>>,
}

impl Extension for Registry {
    fn each_name(&self, lives: &dyn Fn(Pid) -> bool, tell: &mut dyn FnMut(Pid, &Arc<str>)) {
        let mut tables = self.write();
        sweep(&mut tables.names, |pid| lives(*pid));
        sweep(&mut tables.groups, |members| have_any(members, lives));
        for (name, &pid) in &tables.names {
            tell(pid, name);
        }
    }
}

impl Registry {
    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes the entries that are not `wanted`, and has the map hold twice as many as are left.
fn sweep<V>(map: &mut HashMap<Arc<str>, V>, mut wanted: impl FnMut(&mut V) -> bool) {
    map.retain(|_, value| wanted(value));
    map.shrink_to(2 * map.len());
    map.reserve(map.len());
}

/// Removes the members that do not live; returns true if any is left.
fn have_any(members: &mut Vec<Pid>, lives: impl Fn(Pid) -> bool) -> bool {
    members.retain(|&pid| lives(pid));
    members.reserve(members.len());
    !members.is_empty()
}

/// See [`HandleExt::register`](crate::HandleExt::register).
pub(crate) fn register<P: Protocol>(
    scheduler: &Handle<P>,
    name: &str,
    pid: Pid,
) -> Result<(), RegisterError> {
    if !scheduler.lives(pid) {
        return Err(RegisterError::NoSuchProcess(NoSuchProcess { pid }));
    }
    let registry = scheduler.extension::<Registry>();
    let mut stale = None;
    loop {
        let mut tables = registry.write();
        if tables.names.len() == tables.names.capacity() {
            sweep(&mut tables.names, |pid| scheduler.takes_messages(*pid));
        }
        let holder = match tables.names.entry(name.into()) {
            Entry::Occupied(place) if Some(*place.get()) != stale => *place.get(),
            free => {
                free.insert_entry(pid);
                return Ok(());
            }
        };
        // Not under the lock: a look at it may be the last that keeps it in its place.
        drop(tables);
        if scheduler.lives(holder) {
            let name = name.into();
            return Err(RegisterError::Taken { name, holder });
        }
        // No generation comes twice.
        stale = Some(holder);
    }
}

/// See [`HandleExt::unregister`](crate::HandleExt::unregister).
pub(crate) fn unregister<P: Protocol>(scheduler: &Handle<P>, name: &str) -> Option<Pid> {
    let removed = scheduler.extension::<Registry>().write().names.remove(name);
    removed.filter(|&pid| scheduler.lives(pid))
}

/// See [`HandleExt::whereis`](crate::HandleExt::whereis).
pub(crate) fn whereis<P: Protocol>(scheduler: &Handle<P>, name: &str) -> Option<Pid> {
    let registry = scheduler.extension::<Registry>();
    let holder = registry.read().names.get(name).copied();
    holder.filter(|&pid| scheduler.lives(pid))
}

/// See [`HandleExt::names`](crate::HandleExt::names).
pub(crate) fn names<P: Protocol>(scheduler: &Handle<P>, pid: Pid) -> Vec<Arc<str>> {
    let mut names = Vec::new();
    if scheduler.lives(pid) {
        let registry = scheduler.extension::<Registry>();
        let tables = registry.read();
        let own = tables.names.iter().filter(|(_, holder)| **holder == pid);
        names.extend(own.map(|(name, _)| Arc::clone(name)));
    }
    names
}

/// See [`HandleExt::join_group`](crate::HandleExt::join_group).
pub(crate) fn join<P: Protocol>(
    scheduler: &Handle<P>,
    name: &str,
    pid: Pid,
) -> Result<(), GroupError> {
    if !scheduler.lives(pid) {
        return Err(GroupError::NoSuchProcess(NoSuchProcess { pid }));
    }
    let registry = scheduler.extension::<Registry>();
    let mut tables = registry.write();
    let lives = |pid| scheduler.takes_messages(pid);
    if tables.groups.len() == tables.groups.capacity() {
        sweep(&mut tables.groups, |members| have_any(members, lives));
    }
    let members = tables.groups.entry(name.into()).or_default();
    if members.contains(&pid) {
        let name = name.into();
        return Err(GroupError::AlreadyMember { name, pid });
    }
    if members.len() == members.capacity() {
        have_any(members, lives);
    }
    members.push(pid);
    Ok(())
}

/// See [`HandleExt::leave_group`](crate::HandleExt::leave_group).
pub(crate) fn leave<P: Protocol>(scheduler: &Handle<P>, name: &str, pid: Pid) -> bool {
    let registry = scheduler.extension::<Registry>();
    let mut tables = registry.write();
    let Some(members) = tables.groups.get_mut(name) else {
        return false;
    };
    let before = members.len();
    members.retain(|member| *member != pid);
    let was_member = members.len() < before;
    if members.is_empty() {
        tables.groups.remove(name);
    }
    drop(tables);
    was_member && scheduler.lives(pid)
}

/// See [`HandleExt::group`](crate::HandleExt::group).
pub(crate) fn members<P: Protocol>(scheduler: &Handle<P>, name: &str) -> Vec<Pid> {
    let registry = scheduler.extension::<Registry>();
    let members = registry.read().groups.get(name).cloned();
    let mut members = members.unwrap_or_default();
    members.retain(|&pid| scheduler.lives(pid));
    members
}

/// See [`HandleExt::broadcast`](crate::HandleExt::broadcast).
pub(crate) fn broadcast<P: Protocol>(
    scheduler: &Handle<P>,
    name: &str,
    mut message: impl FnMut(Pid) -> P::Message,
) -> Broadcast<P> {
    let mut broadcast = Broadcast {
        sent: 0,
        refused: Vec::new(),
    };
    for pid in members(scheduler, name) {
        match scheduler.send(pid, message(pid)) {
            Ok(()) => broadcast.sent += 1,
            Err(error) => broadcast.refused.push(error),
        }
    }
    broadcast
}

/// The reason why a process did not get a name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// A live process has that name.
    Taken {
        /// The name.
        name: Arc<str>,
        /// The process that has the name.
        holder: Pid,
    },
    /// No live process of this scheduler has that PID.
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

/// The outcome of a message to a [group](crate::HandleExt::broadcast).
pub struct Broadcast<P: Protocol> {
    /// The number of processes it was sent to.
    pub sent: usize,
    /// The errors of the others, each with its message: the process ended, or its mailbox is full.
    pub refused: Vec<SendError<P>>,
}

impl<P: Protocol> fmt::Debug for Broadcast<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broadcast")
            .field("sent", &self.sent)
            .field("refused", &self.refused)
            .finish()
    }
}

/// The reason why a process did not join a group.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupError {
    /// The process is in the group already.
    AlreadyMember {
        /// The group.
        name: Arc<str>,
        /// The process.
        pid: Pid,
    },
    /// No live process of this scheduler has that PID.
    NoSuchProcess(NoSuchProcess),
}

impl fmt::Display for GroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyMember { name, pid } => {
                write!(f, "process {pid} is in the group `{name}` already")
            }
            Self::NoSuchProcess(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for GroupError {}

#[cfg(all(test, not(shuttle)))]
mod tests;
