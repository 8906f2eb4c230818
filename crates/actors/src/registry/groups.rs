//! Groups of processes that others know by a name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use filch_scheduler::{EndCall, Handle, NoSuchProcess, Pid, Protocol, SendError};
use filch_sync::{Mutex, lock};

/// Groups of processes that others know by a name.
pub trait Grouped<P: Protocol> {
    /// Puts the process `pid` of this scheduler into the group of that name, until it
    /// [leaves](Self::leave_group) or ends. A process may be in many groups. Takes a lock for a
    /// moment.
    ///
    /// # Errors
    /// [`GroupError`].
    fn join_group(&self, name: &str, pid: Pid) -> Result<(), GroupError>;

    /// Takes the process out of the group. Whether it was in it. Takes a lock for a moment.
    fn leave_group(&self, name: &str, pid: Pid) -> bool;

    /// The processes of the group, in the order in which they joined; none if there is no such
    /// group. One that ends just now may be among them. Takes a lock for a moment.
    fn group(&self, name: &str) -> Vec<Pid>;

    /// Sends each process of the group what `message` makes for it, in the order in which they
    /// joined. See [`send`](Self::send).
    fn broadcast(
        &self,
        name: &str,
        message: impl FnMut(Pid) -> P::Message,
    ) -> Broadcast<P>;
}

impl<P: Protocol> Grouped<P> for Handle<P> {
    fn join_group(&self, name: &str, pid: Pid) -> Result<(), GroupError> {
        let name: Arc<str> = name.into();
        let all = self.extension::<Groups>();
        if !all.add(&name, pid) {
            return Err(GroupError::AlreadyMember { name, pid });
        }
        let groups = Arc::clone(&all);
        let own = Arc::clone(&name);
        let at_end = self.at_end(pid, move |_| {
            groups.remove(&own, pid);
        });
        // If the process has ended, it was taken out just now.
        let joined = self.extension::<Groups>().set_end(&name, pid, at_end);
        joined.map_err(|_| GroupError::NoSuchProcess(NoSuchProcess { pid }))
    }

    fn leave_group(&self, name: &str, pid: Pid) -> bool {
        let member = self.extension::<Groups>().remove(name, pid);
        let was_member = member.is_some();
        if let Some(at_end) = member.and_then(|member| member.at_end) {
            at_end.cancel();
        }
        was_member
    }

    fn group(&self, name: &str) -> Vec<Pid> {
        self.extension::<Groups>().members(name)
    }

    fn broadcast(
        &self,
        name: &str,
        mut message: impl FnMut(Pid) -> P::Message,
    ) -> Broadcast<P> {
        let mut broadcast = Broadcast {
            sent: 0,
            refused: Vec::new(),
        };
        for pid in self.group(name) {
            match self.send(pid, message(pid)) {
                Ok(()) => broadcast.sent += 1,
                Err(error) => broadcast.refused.push(error),
            }
        }
        broadcast
    }
}

/// Which processes are in which group. A group is there while it has members.
///
/// Its lock is held for a moment by those that join, leave or look; no user's code runs under it.
#[derive(Default)]
struct Groups(Mutex<BTreeMap<Arc<str>, Vec<Member>>>);

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

/// What became of a message to a [group](Grouped::broadcast).
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
