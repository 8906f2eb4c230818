//! Groups of processes that others know by a name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use filch_scheduler::{EndCall, Extension, Handle, NoSuchProcess, Pid, Protocol, SendError};
use filch_sync::{Mutex, lock};

pub(crate) fn join<P: Protocol>(
    scheduler: &Handle<P>,
    name: &str,
    pid: Pid,
) -> Result<(), GroupError> {
    let name: Arc<str> = name.into();
    let all = scheduler.extension::<Groups>();
    if !all.add(&name, pid) {
        return Err(GroupError::AlreadyMember { name, pid });
    }
    let groups = Arc::clone(&all);
    let own = Arc::clone(&name);
    let at_end = scheduler.at_end(pid, move |_| {
        groups.remove(&own, pid);
    });
    // If the process has ended, it was taken out just now.
    let joined = scheduler.extension::<Groups>().set_end(&name, pid, at_end);
    joined.map_err(|_| GroupError::NoSuchProcess(NoSuchProcess { pid }))
}

pub(crate) fn leave<P: Protocol>(scheduler: &Handle<P>, name: &str, pid: Pid) -> bool {
    let member = scheduler.extension::<Groups>().remove(name, pid);
    let was_member = member.is_some();
    if let Some(at_end) = member.and_then(|member| member.at_end) {
        at_end.cancel();
    }
    was_member
}

pub(crate) fn members<P: Protocol>(scheduler: &Handle<P>, name: &str) -> Vec<Pid> {
    scheduler.extension::<Groups>().members(name)
}

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

/// Which processes are in which group. A group is there while it has members.
///
/// Its lock is held for a moment by those that join, leave or look; no user's code runs under it.
#[derive(Default)]
struct Groups(Mutex<BTreeMap<Arc<str>, Vec<Member>>>);

impl Extension for Groups {}

struct Member {
    pid: Pid,
    /// Takes it out of the group. `None` for a moment, before it is with the process.
    at_end: Option<EndCall>,
}

impl Groups {
    /// Whether it was not a member.
    fn add(&self, name: &Arc<str>, pid: Pid) -> bool {
        let mut groups = lock(&self.0);
        let members = groups.entry(Arc::clone(name)).or_default();
        let is_new = members.iter().all(|member| member.pid != pid);
        if is_new {
            members.push(Member { pid, at_end: None });
        }
        is_new
    }

    /// What takes the member out at its end; it comes back if that has been.
    fn set_end(&self, name: &str, pid: Pid, at_end: EndCall) -> Result<(), EndCall> {
        let mut groups = lock(&self.0);
        let members = groups.get_mut(name).into_iter().flatten();
        match members.into_iter().find(|member| member.pid == pid) {
            Some(member) => {
                member.at_end = Some(at_end);
                Ok(())
            }
            None => Err(at_end),
        }
    }

    /// Whether it was one.
    fn remove(&self, name: &str, pid: Pid) -> Option<Member> {
        let mut groups = lock(&self.0);
        let members = groups.get_mut(name)?;
        let place = members.iter().position(|member| member.pid == pid)?;
        let member = members.remove(place);
        if members.is_empty() {
            groups.remove(name);
        }
        Some(member)
    }

    fn members(&self, name: &str) -> Vec<Pid> {
        let groups = lock(&self.0);
        let members = groups.get(name).into_iter().flatten();
        members.map(|member| member.pid).collect()
    }
}

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
