//! Names for processes that others look for, and groups of processes.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use filch_scheduler::{EndCall, Extension, Handle, NoSuchProcess, Pid, Protocol, SendError};

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
    let name: Arc<str> = name.into();
    let mut stale = None;
    while let Err(holder) = registry.write().give(&name, pid, stale) {
        if scheduler.lives(holder) {
            return Err(RegisterError::Taken { name, holder });
        }
        // It has ended. No generation comes twice.
        stale = Some(holder);
    }
    // If it has ended meanwhile, its names go here and now.
    registry.see_to_end(scheduler, pid);
    Ok(())
}

/// See [`HandleExt::unregister`](crate::HandleExt::unregister).
pub(crate) fn unregister<P: Protocol>(scheduler: &Handle<P>, name: &str) -> Option<Pid> {
    let registry = scheduler.extension::<Registry>();
    let mut tables = registry.write();
    let pid = *tables.names.get(name)?;
    let at_end = tables.take(Kind::Name, name, pid);
    // Not under the lock.
    drop(tables);
    at_end.map(EndCall::cancel);
    scheduler.lives(pid).then_some(pid)
}

/// See [`HandleExt::whereis`](crate::HandleExt::whereis).
pub(crate) fn whereis<P: Protocol>(scheduler: &Handle<P>, name: &str) -> Option<Pid> {
    let holder = (scheduler.extension::<Registry>().read().names.get(name)).copied();
    holder.filter(|&pid| scheduler.lives(pid))
}

/// See [`HandleExt::names`](crate::HandleExt::names).
pub(crate) fn names<P: Protocol>(scheduler: &Handle<P>, pid: Pid) -> Vec<Arc<str>> {
    scheduler.extension::<Registry>().names_of(pid)
}

/// See [`HandleExt::join_group`](crate::HandleExt::join_group).
pub(crate) fn join<P: Protocol>(
    scheduler: &Handle<P>,
    name: &str,
    pid: Pid,
) -> Result<(), GroupError> {
    let registry = scheduler.extension::<Registry>();
    let name: Arc<str> = name.into();
    if !registry.write().add(&name, pid) {
        return Err(GroupError::AlreadyMember { name, pid });
    }
    // If the process has ended, it is taken out just now.
    match registry.see_to_end(scheduler, pid) {
        true => Ok(()),
        false => Err(GroupError::NoSuchProcess(NoSuchProcess { pid })),
    }
}

/// See [`HandleExt::leave_group`](crate::HandleExt::leave_group).
pub(crate) fn leave<P: Protocol>(scheduler: &Handle<P>, name: &str, pid: Pid) -> bool {
    let registry = scheduler.extension::<Registry>();
    let mut tables = registry.write();
    let is_member = tables.has(Kind::Group, name, pid);
    let at_end = tables.take(Kind::Group, name, pid);
    // Not under the lock.
    drop(tables);
    at_end.map(EndCall::cancel);
    is_member
}

/// See [`HandleExt::group`](crate::HandleExt::group).
pub(crate) fn members<P: Protocol>(scheduler: &Handle<P>, name: &str) -> Vec<Pid> {
    let registry = scheduler.extension::<Registry>();
    let members = registry.read().groups.get(name).cloned();
    members.unwrap_or_default()
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

/// Which names and groups the processes of a scheduler have.
///
/// A name is looked up far less often than a PID: a lock that readers share will do. It is held for
/// a few look-ups, or while a map is moved that grows or shrinks; no user's code runs under it.
#[derive(Debug, Default)]
struct Registry(RwLock<Tables>);

#[derive(Debug, Default)]
struct Tables {
    names: HashMap<Arc<str>, Pid>,
    /// The members in the order in which they joined: at least one.
    groups: HashMap<Arc<str>, Vec<Pid>>,
    /// The names and groups of each process that has any.
    own: HashMap<Pid, Own>,
}

/// What a process has.
#[derive(Debug, Default)]
struct Own {
    tags: BTreeSet<(Kind, Arc<str>)>,
    /// Takes all of them away. `None` for a moment, before it is with the process.
    at_end: Option<EndCall>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Name,
    Group,
}

/// How many tags of an ended process are taken away before others get the lock.
const BATCH: usize = 64;

impl Extension for Registry {
    fn names_of(&self, pid: Pid) -> Vec<Arc<str>> {
        let tables = self.read();
        let tags = tables.own.get(&pid).into_iter().flat_map(|own| &own.tags);
        let names = tags.filter(|(kind, _)| *kind == Kind::Name);
        names.map(|(_, name)| Arc::clone(name)).collect()
    }
}

impl Registry {
    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the process, which was given something, lose it at its end. Whether it has it still.
    fn see_to_end<P: Protocol>(self: &Arc<Self>, scheduler: &Handle<P>, pid: Pid) -> bool {
        match self.read().own.get(&pid) {
            Some(own) if own.at_end.is_some() => return true,
            Some(_) => {}
            None => return false,
        }
        let registry = Arc::clone(self);
        let at_end = scheduler.at_end(pid, move |_| registry.forget(pid));
        let mut tables = self.write();
        let unneeded = match tables.own.get_mut(&pid) {
            Some(own) if own.at_end.is_none() => own.at_end.replace(at_end),
            _ => Some(at_end),
        };
        let is_there = tables.own.contains_key(&pid);
        // Not under the lock.
        drop(tables);
        unneeded.map(EndCall::cancel);
        is_there
    }

    /// The process has ended, and loses all. Takes the lock for a few tags at a time. A name that
    /// is given to another process meanwhile stays that one's.
    fn forget(&self, pid: Pid) {
        let own = self.write().own.remove(&pid);
        let tags: Vec<_> = own.unwrap_or_default().tags.into_iter().collect();
        for batch in tags.chunks(BATCH) {
            let mut tables = self.write();
            for (kind, name) in batch {
                tables.untie(*kind, name, pid);
            }
        }
    }
}

impl Tables {
    /// Gives `name` to `pid`, if no process except `stale` has it.
    ///
    /// # Errors
    /// The process that has it.
    fn give(&mut self, name: &Arc<str>, pid: Pid, stale: Option<Pid>) -> Result<(), Pid> {
        if let Some(&holder) = self.names.get(name)
            && Some(holder) != stale
        {
            return Err(holder);
        }
        // The stale one has ended: its call, which takes the tag away, is under way.
        self.names.insert(Arc::clone(name), pid);
        self.tag(Kind::Name, name, pid);
        Ok(())
    }

    /// Puts the process into the group. Whether it was not a member.
    fn add(&mut self, name: &Arc<str>, pid: Pid) -> bool {
        let is_new = self.tag(Kind::Group, name, pid);
        if is_new {
            self.groups.entry(Arc::clone(name)).or_default().push(pid);
        }
        is_new
    }

    fn tag(&mut self, kind: Kind, name: &Arc<str>, pid: Pid) -> bool {
        let own = self.own.entry(pid).or_default();
        own.tags.insert((kind, Arc::clone(name)))
    }

    fn has(&self, kind: Kind, name: &str, pid: Pid) -> bool {
        let own = self.own.get(&pid);
        own.is_some_and(|own| own.tags.contains(&(kind, name.into())))
    }

    /// Takes the name away from the process, or the process out of the group. Returns what it has
    /// at its end, if that was the last that it had.
    fn take(&mut self, kind: Kind, name: &str, pid: Pid) -> Option<EndCall> {
        self.untie(kind, name, pid);
        let own = self.own.get_mut(&pid)?;
        own.tags.remove(&(kind, name.into()));
        if !own.tags.is_empty() {
            return None;
        }
        let own = self.own.remove(&pid);
        shrink(&mut self.own);
        own?.at_end
    }

    /// The name does not mean the process any more, if it did.
    fn untie(&mut self, kind: Kind, name: &str, pid: Pid) {
        match kind {
            Kind::Name => {
                if self.names.get(name) == Some(&pid) {
                    self.names.remove(name);
                    shrink(&mut self.names);
                }
            }
            Kind::Group => {
                if let Some(members) = self.groups.get_mut(name) {
                    members.retain(|member| *member != pid);
                    if members.is_empty() {
                        self.groups.remove(name);
                        shrink(&mut self.groups);
                    }
                }
            }
        }
    }
}

/// Gives memory back of a map that had eight times as much as it has.
fn shrink<K: Eq + Hash, V>(map: &mut HashMap<K, V>) {
    if map.capacity() > 64 && map.len() < map.capacity() / 8 {
        map.shrink_to(2 * map.len());
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

/// What became of a message to a [group](crate::HandleExt::broadcast).
pub struct Broadcast<P: Protocol> {
    /// To how many processes it was sent.
    pub sent: usize,
    /// The others, each with its message: one that ended just then, or whose mailbox is full.
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

/// Why a process did not join a group.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupError {
    /// It is in it already.
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
