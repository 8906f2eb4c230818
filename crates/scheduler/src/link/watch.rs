//! Watches: one process is told of the end of another, exactly once.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use filch_sync::atomic::{AtomicU8, Ordering};

use crate::link::exit_reason::ExitReason;
use crate::link::signal::{Heard, PendingCall};
use crate::table::body::{Item, Signal};
use crate::table::pid::Pid;
use crate::{Context, Handle, Protocol};

/// Tells one process of the end of another, or two of each other's.
///
/// A watch is attached to each process that it is *about*: the process's worker keeps it in
/// [`Watchers`], or finds it in the queue at the end. A thread that finds the process over
/// [fires](Self::fire) the watch; the one that succeeds tells the other side.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Decides if one is told of the other's end, or each.
    kind: WatchKind,
    /// The process that has the watch.
    by: Pid,
    /// The other process.
    with: Pid,
    state: AtomicU8,
}

/// The direction of a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WatchKind {
    /// `by` is told of the end of `with`.
    Monitor,
    /// Each is told of the other's end, and perhaps ends by it.
    Link,
}

/// Neither fired nor cancelled.
const ARMED: u8 = 0;
/// One process is over, and the other is being told.
const FIRED: u8 = 1;
/// Neither process is to be told any more.
const CANCELLED: u8 = 2;

impl Watch {
    /// Makes an armed watch.
    pub(crate) fn new(kind: WatchKind, by: Pid, with: Pid) -> Arc<Self> {
        let state = AtomicU8::new(ARMED);
        Arc::new(Self {
            kind,
            by,
            with,
            state,
        })
    }

    /// Fires the watch; returns true to at most one caller ever, which must tell the other side.
    pub(crate) fn fire(&self) -> bool {
        // ORDERING: Relaxed: it only decides which of several is first; what they tell goes through
        // a queue.
        let fired = self
            .state
            .compare_exchange(ARMED, FIRED, Ordering::Relaxed, Ordering::Relaxed);
        fired.is_ok()
    }

    /// Cancels the watch: neither side is told any more. Returns true if it had not fired.
    pub(crate) fn cancel(&self) -> bool {
        // ORDERING: Relaxed: for the process that is not to be told, see `is_cancelled`.
        self.state.swap(CANCELLED, Ordering::Relaxed) == ARMED
    }

    /// Checks if it was cancelled, as far as the calling worker, which would deliver its end,
    /// knows. If a process cancels it in a step, the workers of all later steps see that: the edges
    /// of its state order them.
    pub(crate) fn is_cancelled(&self) -> bool {
        // ORDERING: Relaxed: see above.
        self.state.load(Ordering::Relaxed) == CANCELLED
    }

    fn is_armed(&self) -> bool {
        // ORDERING: Relaxed: a sweep that comes a moment too early or too late keeps or drops one
        // reference.
        self.state.load(Ordering::Relaxed) == ARMED
    }

    /// Returns the process at the other end from `one`.
    pub(crate) fn other_than(&self, one: Pid) -> Pid {
        if self.by == one { self.with } else { self.by }
    }
}

/// A target that is told of the end of a process.
pub(crate) enum Watcher {
    /// The other process of a watch.
    Process(Arc<Watch>),
    /// A callback that belongs to no process.
    Call(PendingCall),
}

impl Watcher {
    fn is_pending(&self) -> bool {
        match self {
            Self::Process(watch) => watch.is_armed(),
            Self::Call(call) => call.is_pending(),
        }
    }
}

/// The watchers of one process. Only the worker that has the process touches them.
#[derive(Default)]
pub(crate) struct Watchers(Vec<Watcher>);

impl Watchers {
    /// Adds one. Sweeps out the dead ones before it allocates: so there are at most twice as many
    /// as were ever pending at a time, at an amortised constant cost.
    pub(crate) fn push(&mut self, watcher: Watcher) {
        if self.0.len() == self.0.capacity() {
            self.0.retain(Watcher::is_pending);
            self.0.reserve_exact(self.0.len().max(1));
        }
        self.0.push(watcher);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_iter(self) -> impl Iterator<Item = Watcher> {
        self.0.into_iter()
    }
}

/// One process watching another. Dropping it changes nothing. Clones are equal.
#[derive(Clone)]
pub struct Monitor(pub(crate) Arc<Watch>);

/// Two processes linked. Dropping it changes nothing. Clones are equal.
#[derive(Clone)]
pub struct Link(pub(crate) Arc<Watch>);

impl Monitor {
    /// Returns the process that is told.
    pub fn watcher(&self) -> Pid {
        self.0.by
    }

    /// Returns the process that is watched.
    pub fn watched(&self) -> Pid {
        self.0.with
    }

    /// Ends the monitor: if the watcher calls this in a step, none of its later steps gets this
    /// monitor's [`Down`]. Returns true if it was in time: the watched process had not been found
    /// over. Wait-free.
    ///
    /// The watched process is not woken for it, and forgets it when other watches are added.
    pub fn demonitor(&self) -> bool {
        self.0.cancel()
    }
}

impl Link {
    /// Returns the process at the other end from `one`.
    pub fn other_than(&self, one: Pid) -> Pid {
        self.0.other_than(one)
    }

    /// Ends the link: if one of the two calls this in a step, none of its later steps is its last
    /// because of this link, or gets its [`Exited`]. Returns true if it was in time: neither of the
    /// two had been found over. Wait-free.
    pub fn unlink(&self) -> bool {
        self.0.cancel()
    }
}

/// The event that a watched process is over.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Down {
    /// The process.
    pub pid: Pid,
    /// The monitor that tells it.
    pub monitor: Monitor,
    /// The reason for its end.
    pub reason: ExitReason,
}

/// The event that a linked process is over.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Exited {
    /// The process.
    pub pid: Pid,
    /// The link that tells it.
    pub link: Link,
    /// The reason for its end.
    pub reason: ExitReason,
}

/// Implements the identity of monitors and links: that of their watch.
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

impl<P: Protocol> Handle<P> {
    /// Tells the process `watcher` of the end of `watched`, by one
    /// [`Event::Down`](crate::Event::Down). Lock-free.
    ///
    /// Exactly one, however the end and this call race: if `watched` has ended, or never was, the
    /// event says [`ExitReason::NoSuchProcess`]. None if the watcher itself ends before, or [ends
    /// the monitor](Monitor::demonitor). Each call makes another monitor. `Down` arrives after all
    /// messages of the ended process, and does not end a wait for commands.
    pub fn monitor(&self, watcher: Pid, watched: Pid) -> Monitor {
        let watch = Watch::new(WatchKind::Monitor, watcher, watched);
        self.attach(watched, &watch);
        Monitor(watch)
    }

    /// Links two processes: the end of one, if it is not [normal](ExitReason::is_normal), ends the
    /// other. Lock-free.
    ///
    /// | one ends | the other traps exits | it does not |
    /// |---|---|---|
    /// | done | gets [`Event::Exited`](crate::Event::Exited) | goes on |
    /// | otherwise | gets [`Event::Exited`](crate::Event::Exited) | ends with [`ProcessError::Linked`](crate::ProcessError::Linked) |
    /// | has ended before the call, in whatever way | gets [`Event::Exited`](crate::Event::Exited), [`NoSuchProcess`](ExitReason::NoSuchProcess) | ends with [`ProcessError::Linked`](crate::ProcessError::Linked) |
    ///
    /// (Erlang's rules, except that each call makes another link.) Exactly one of these happens,
    /// however the end and this call race, unless they are [unlinked](Link::unlink) before. A
    /// process that runs ends after its step, as if [terminated](Self::terminate); one with a
    /// backlog, before its next step. It passes the reason on to all that are linked to it.
    ///
    /// Linking a process to itself does nothing.
    pub fn link(&self, one: Pid, other: Pid) -> Link {
        let watch = Watch::new(WatchKind::Link, one, other);
        if one != other {
            self.attach(one, &watch);
            self.attach(other, &watch);
        }
        Link(watch)
    }

    /// Makes the process `about` fire the watch at its end.
    pub(crate) fn attach(&self, about: Pid, watch: &Arc<Watch>) {
        match self.signal(about, Signal::Attach(Watcher::Process(Arc::clone(watch)))) {
            Ok(Heard::Surely) => {}
            // If its worker has found it all the same, it has been fired already.
            Ok(Heard::Perhaps) | Err(_) => self.fire(about, watch, &ExitReason::NoSuchProcess),
        }
    }

    /// Handles an item left in the queue of the process `pid`, which is over.
    pub(crate) fn tell_end(&self, item: Item<P>, pid: Pid, reason: &ExitReason) {
        if let Item::Signal(Signal::Attach(watcher)) = item {
            self.tell(watcher, pid, reason);
        }
    }

    pub(crate) fn tell(&self, watcher: Watcher, pid: Pid, reason: &ExitReason) {
        match watcher {
            Watcher::Process(watch) => self.fire(pid, &watch, reason),
            Watcher::Call(call) => call.run(reason),
        }
    }

    /// Tells the other end of the watch that the process `from` is over, if nobody has.
    fn fire(&self, from: Pid, watch: &Arc<Watch>, reason: &ExitReason) {
        if watch.fire() {
            let (watch, reason) = (Arc::clone(watch), reason.clone());
            let other = watch.other_than(from);
            let told = match watch.kind {
                WatchKind::Monitor => Signal::Down(Box::new(Down {
                    pid: from,
                    monitor: Monitor(watch),
                    reason,
                })),
                WatchKind::Link => Signal::Exited(Box::new(Exited {
                    pid: from,
                    link: Link(watch),
                    reason,
                })),
            };
            // If that one has ended too, nobody is left to be told.
            let _ = self.signal(other, told);
        }
    }
}

impl<P: Protocol> Context<'_, P> {
    /// Tells this process of the end of `watched`. See [`Handle::monitor`].
    pub fn monitor(&self, watched: Pid) -> Monitor {
        self.handle().monitor(self.pid(), watched)
    }

    /// Links this process and another. See [`Handle::link`].
    pub fn link(&self, other: Pid) -> Link {
        self.handle().link(self.pid(), other)
    }
}
