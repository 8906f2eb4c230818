//! Monitors and links: which process hears of whose end.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use filch_process_table::Pid;
use filch_sync::atomic::{AtomicU8, Ordering};

use crate::api::exit_reason::ExitReason;

/// One process told of the end of another, or two of each other's.
///
/// A watch is attached to each process that it is *about*: the process's worker keeps it in
/// [`Watches`], or finds it in the queue at the end. A thread that finds that the process is over
/// [fires](Self::fire) the watch, and the one that succeeds tells the other side.
pub(crate) struct Watch {
    pub(crate) kind: Kind,
    by: Pid,
    with: Pid,
    state: AtomicU8,
}

/// Which of the two is told what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `by` is told of the end of `with`.
    Monitor,
    /// Each is told of the other's end, and perhaps ends by it.
    Link,
}

/// Neither has happened.
const ARMED: u8 = 0;
/// One of the two is over, and the other one is being told.
const FIRED: u8 = 1;
/// Neither is to be told any more.
const CANCELLED: u8 = 2;

impl Watch {
    pub(crate) fn new(kind: Kind, by: Pid, with: Pid) -> Arc<Self> {
        let state = AtomicU8::new(ARMED);
        Arc::new(Self {
            kind,
            by,
            with,
            state,
        })
    }

    /// Whether the caller must tell the other side: at most one caller ever.
    pub(crate) fn fire(&self) -> bool {
        // ORDERING: Relaxed: it only decides which of several is first; what they tell goes through
        // a queue.
        let fired = self
            .state
            .compare_exchange(ARMED, FIRED, Ordering::Relaxed, Ordering::Relaxed);
        fired.is_ok()
    }

    fn cancel(&self) -> bool {
        // ORDERING: Relaxed: for the process that is not to be told, see `is_cancelled`.
        self.state.swap(CANCELLED, Ordering::Relaxed) == ARMED
    }

    /// Whether it was cancelled, as far as the calling worker knows, which would deliver its end. If
    /// a process cancels it in a step, the workers of all later steps see that: the edges of its
    /// state order them.
    pub(crate) fn is_cancelled(&self) -> bool {
        // ORDERING: Relaxed: see above.
        self.state.load(Ordering::Relaxed) == CANCELLED
    }

    fn is_armed(&self) -> bool {
        // ORDERING: Relaxed: a sweep that comes a moment too early or too late keeps or drops one
        // reference.
        self.state.load(Ordering::Relaxed) == ARMED
    }

    /// The process at the other end from `one`.
    pub(crate) fn other_than(&self, one: Pid) -> Pid {
        if self.by == one { self.with } else { self.by }
    }
}

/// The watches that are attached to one process. Only the worker that has the process touches them.
#[derive(Default)]
pub(crate) struct Watches(Vec<Arc<Watch>>);

impl Watches {
    /// Adds one. Sweeps out those that are over before it allocates: so there are at most twice as
    /// many as were ever armed at a time, at an amortised constant cost.
    pub(crate) fn push(&mut self, watch: Arc<Watch>) {
        if self.0.len() == self.0.capacity() {
            self.0.retain(|watch| watch.is_armed());
            self.0.reserve(self.0.len().max(1));
        }
        self.0.push(watch);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_iter(self) -> impl Iterator<Item = Arc<Watch>> {
        self.0.into_iter()
    }
}

/// One process watching another: from [`Handle::monitor`](crate::Handle::monitor). Dropping it
/// changes nothing. Clones are equal.
#[derive(Clone)]
pub struct Monitor(pub(crate) Arc<Watch>);

/// Two processes linked: from [`Handle::link`](crate::Handle::link). Dropping it changes nothing.
/// Clones are equal.
#[derive(Clone)]
pub struct Link(pub(crate) Arc<Watch>);

impl Monitor {
    /// The process that is told.
    pub fn watcher(&self) -> Pid {
        self.0.by
    }

    /// The process that is watched.
    pub fn watched(&self) -> Pid {
        self.0.with
    }

    /// Ends the monitor: if the watcher calls this in a step, none of its later steps gets this
    /// monitor's [`Down`](crate::Event::Down). Returns whether it was in time: the watched process
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
    /// one because of this link, or gets its [`Exited`](crate::Event::Exited). Returns whether it
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

/// What monitors and links have in common: identity.
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
                let (by, with) = (self.0.by, self.0.with);
                write!(f, concat!(stringify!($name), "({}, {})"), by, with)
            }
        }
    };
}

by_watch!(Monitor);
by_watch!(Link);
