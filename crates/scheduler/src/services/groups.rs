//! Groups of processes that others know by a name.

use std::fmt;
use std::sync::Arc;

use crate::protocol::debug_fields;
use crate::{Handle, NoSuchProcess, Pid, Protocol, SendError};

impl<P: Protocol> Handle<P> {
    /// Puts the process `pid` of this scheduler into the group of that name, until it
    /// [leaves](Self::leave_group) or ends. A process may be in many groups. Takes a lock for a
    /// moment.
    ///
    /// # Errors
    /// [`GroupError`].
    pub fn join_group(&self, name: &str, pid: Pid) -> Result<(), GroupError> {
        let name: Arc<str> = name.into();
        if !self.shared.groups.add(&name, pid) {
            return Err(GroupError::AlreadyMember { name, pid });
        }
        let groups = self.shared.groups.clone();
        let own = Arc::clone(&name);
        let at_end = self.at_end(pid, move |_| {
            groups.remove(&own, pid);
        });
        // If the process has ended, it was taken out just now.
        let joined = self.shared.groups.set_end(&name, pid, at_end);
        joined.map_err(|_| GroupError::NoSuchProcess(NoSuchProcess { pid }))
    }

    /// Takes the process out of the group. Whether it was in it. Takes a lock for a moment.
    pub fn leave_group(&self, name: &str, pid: Pid) -> bool {
        let member = self.shared.groups.remove(name, pid);
        let was_member = member.is_some();
        if let Some(at_end) = member.and_then(|member| member.at_end) {
            at_end.cancel();
        }
        was_member
    }

    /// The processes of the group, in the order in which they joined; none if there is no such
    /// group. One that ends just now may be among them. Takes a lock for a moment.
    pub fn group(&self, name: &str) -> Vec<Pid> {
        self.shared.groups.members(name)
    }

    /// Sends each process of the group what `message` makes for it, in the order in which they
    /// joined. See [`send`](Self::send).
    pub fn broadcast(
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

/// What became of a message to a [group](Handle::broadcast).
pub struct Broadcast<P: Protocol> {
    /// To how many processes it was sent.
    pub sent: usize,
    /// The others, each with its message: one that ended just then, or whose mailbox is full.
    pub refused: Vec<SendError<P>>,
}

debug_fields!(Broadcast<P>, "Broadcast", sent, refused);

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
