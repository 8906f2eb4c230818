//! Monitors and links, and what they bring: a watch between two processes, as users hold it.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::table::exit_reason::ExitReason;
use crate::table::pid::Pid;
use crate::table::watch::Watch;

/// One process watching another. Dropping it changes nothing. Clones are equal.
#[derive(Clone)]
pub struct Monitor(pub(crate) Arc<Watch>);

/// Two processes linked. Dropping it changes nothing. Clones are equal.
#[derive(Clone)]
pub struct Link(pub(crate) Arc<Watch>);

impl Monitor {
    /// The process that is told.
    pub fn watcher(&self) -> Pid {
        self.0.by()
    }

    /// The process that is watched.
    pub fn watched(&self) -> Pid {
        self.0.with()
    }

    /// Ends the monitor: if the watcher calls this in a step, none of its later steps gets this
    /// monitor's [`Down`]. Returns whether it was in time: the watched process
    /// had not been found to be over. Wait-free.
    ///
    /// The watched process is not woken for it, and forgets it when other watches are added.
    pub fn demonitor(&self) -> bool {
        self.0.cancel()
    }
}

impl Link {
    /// The process that is at the other end from `one`.
    pub fn other_than(&self, one: Pid) -> Pid {
        self.0.other_than(one)
    }

    /// Ends the link: if one of the two calls this in a step, none of its later steps is the last
    /// one because of this link, or gets its [`Exited`]. Returns whether it
    /// was in time: neither of the two had been found to be over. Wait-free.
    pub fn unlink(&self) -> bool {
        self.0.cancel()
    }
}

/// A process that was watched is over.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Down {
    /// The process.
    pub pid: Pid,
    /// By which monitor.
    pub monitor: Monitor,
    /// Why.
    pub reason: ExitReason,
}

/// A process that was linked is over.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Exited {
    /// The process.
    pub pid: Pid,
    /// By which link.
    pub link: Link,
    /// Why.
    pub reason: ExitReason,
}

/// What monitors and links have in common: a watch, and its identity.
macro_rules! by_watch {
    ($name:ident) => {
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                Arc::ptr_eq(&self.0, &other.0)
            }
        }

        impl Eq for $name {}

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                Arc::as_ptr(&self.0).hash(state);
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (by, with) = (self.0.by(), self.0.with());
                write!(f, concat!(stringify!($name), "({}, {})"), by, with)
            }
        }
    };
}

by_watch!(Monitor);
by_watch!(Link);
