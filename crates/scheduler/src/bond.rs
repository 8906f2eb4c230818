//! Monitors and links: who hears of whose end.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use filch_sync::atomic::{AtomicU8, Ordering};

use crate::signal::{ExitSignal, Heard, Signal};
use crate::{ExitReason, Handle, Pid, ProcessError, Protocol};

/// What ties one process to the end of another.
///
/// The worker of each process that the bond is *about* keeps it in that process's [`Bonds`], or
/// finds it in its queue at the end. Whoever finds that the process is over breaks the bond, and
/// the one who broke it tells the other side.
pub(crate) struct Bond {
    kind: Kind,
    by: Pid,
    with: Pid,
    state: AtomicU8,
}

/// Who is told what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `by` is told of the end of `with`.
    Monitor,
    /// Each is told of the other's end, and perhaps ends by it.
    Link,
}

/// Nothing has happened.
const WHOLE: u8 = 0;
/// One end is over, and the other is being told.
const BROKEN: u8 = 1;
/// Nobody wants to be told any more.
const CUT: u8 = 2;

impl Bond {
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether the caller is the one who must tell the other end. At most one ever is.
    fn break_up(&self) -> bool {
        // ORDERING: Relaxed: only which of several comes first matters; what they tell goes through
        // a queue.
        let before =
            self.state
                .compare_exchange(WHOLE, BROKEN, Ordering::Relaxed, Ordering::Relaxed);
        before.is_ok()
    }

    fn cut(&self) -> bool {
        // ORDERING: Relaxed: for the one who is not to be told, see `is_cut`.
        self.state.swap(CUT, Ordering::Relaxed) == WHOLE
    }

    /// Whether it was cut, as far as the worker knows that would deliver its end. A process that
    /// cuts it in a step is seen to have done so by the worker of every later step: its state's
    /// edges order them.
    pub(crate) fn is_cut(&self) -> bool {
        // ORDERING: Relaxed: see above.
        self.state.load(Ordering::Relaxed) == CUT
    }

    fn is_whole(&self) -> bool {
        // ORDERING: Relaxed: whoever sweeps a moment too early or too late keeps or drops one
        // reference.
        self.state.load(Ordering::Relaxed) == WHOLE
    }

    /// The one at the other end from `from`.
    fn other_than(&self, from: Pid) -> Pid {
        if self.by == from { self.with } else { self.by }
    }
}

/// The bonds that tell others of the end of one process. The worker's that has the process.
#[derive(Default)]
pub(crate) struct Bonds(Vec<Arc<Bond>>);

impl Bonds {
    /// Adds one, and before memory is asked for, sweeps those that are over: so there are at most
    /// twice as many as were ever whole at a time, at an amortised constant cost.
    pub(crate) fn push(&mut self, bond: Arc<Bond>) {
        if self.0.len() == self.0.capacity() {
            self.0.retain(|bond| bond.is_whole());
            self.0.reserve(self.0.len().max(1));
        }
        self.0.push(bond);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_iter(self) -> impl Iterator<Item = Arc<Bond>> {
        self.0.into_iter()
    }
}

/// One process watching another: from [`Handle::monitor`]. Dropping it changes nothing.
///
/// Two are equal if they are, or are clones of, the same.
#[derive(Clone)]
pub struct Monitor(pub(crate) Arc<Bond>);

/// Two processes tied together: from [`Handle::link`]. Dropping it changes nothing.
///
/// Two are equal if they are, or are clones of, the same.
#[derive(Clone)]
pub struct Link(pub(crate) Arc<Bond>);

impl Monitor {
    /// The process that is told.
    pub fn watcher(&self) -> Pid {
        self.0.by
    }

    /// The process that is watched.
    pub fn watched(&self) -> Pid {
        self.0.with
    }

    /// Ends the monitor: if the watcher calls it in a step, none of its later steps gets this
    /// monitor's [`Down`](crate::Event::Down). Whether the monitored process had not been found to
    /// be over. Wait-free.
    ///
    /// The watched process is not woken for it, and forgets it when it is watched by others.
    pub fn demonitor(&self) -> bool {
        self.0.cut()
    }
}

impl Link {
    /// The process that is at the other end from `one`.
    pub fn other_than(&self, one: Pid) -> Pid {
        self.0.other_than(one)
    }

    /// Ends the link: if one of the two calls it in a step, none of its later steps is the last one
    /// because of this link, or gets its [`Exited`](crate::Event::Exited). Whether neither of the
    /// two had been found to be over. Wait-free.
    pub fn unlink(&self) -> bool {
        self.0.cut()
    }
}

/// One process that was watched is over.
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

/// One process that was linked is over.
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

/// How a process ends that was linked to this one and does not trap exits.
impl<P: Protocol> From<Exited> for ProcessError<P> {
    fn from(exited: Exited) -> Self {
        match exited.reason {
            ExitReason::Linked { origin, reason } => Self::Linked { origin, reason },
            reason => Self::Linked {
                origin: exited.pid,
                reason: Arc::new(reason),
            },
        }
    }
}

/// What an end at the other side of a bond means to a process.
pub(crate) enum Meaning {
    /// Nothing any more.
    Nothing,
    Down(Box<Down>),
    Exited(Box<Exited>),
}

impl ExitSignal {
    pub(crate) fn meaning(self) -> Meaning {
        let Self {
            from: pid,
            bond,
            reason,
        } = self;
        match bond.kind {
            _ if bond.is_cut() => Meaning::Nothing,
            Kind::Monitor => Meaning::Down(Box::new(Down {
                pid,
                monitor: Monitor(bond),
                reason,
            })),
            Kind::Link => Meaning::Exited(Box::new(Exited {
                pid,
                link: Link(bond),
                reason,
            })),
        }
    }
}

impl<P: Protocol> Handle<P> {
    /// Has the process `watcher` told of the end of `watched`, by one
    /// [`Event::Down`](crate::Event::Down). Lock-free.
    ///
    /// Exactly one, however the end and this call race: if `watched` has ended, or never was, the
    /// event says [`ExitReason::NoProcess`]. None if the watcher itself ends before, or
    /// [ends the monitor](Monitor::demonitor). Each call makes a monitor of its own. The event is
    /// like a message: it comes behind those that were sent before, those of the process that has
    /// ended among them, and does not end a wait for commands.
    ///
    /// To the watched process it costs a turn without a step at most, and a reference as long as it
    /// lives.
    pub fn monitor(&self, watcher: Pid, watched: Pid) -> Monitor {
        let bond = self.bond(Kind::Monitor, watcher, watched);
        self.tie(watched, &bond);
        Monitor(bond)
    }

    /// Ties two processes together: the end of one, if it is not [normal](ExitReason::is_normal),
    /// ends the other. Lock-free.
    ///
    /// | one ends | the other traps exits | it does not |
    /// |---|---|---|
    /// | done | gets [`Event::Exited`](crate::Event::Exited) | goes on |
    /// | otherwise | gets [`Event::Exited`](crate::Event::Exited) | ends with [`ProcessError::Linked`](crate::ProcessError::Linked) |
    /// | has ended before the call, in whatever way | gets [`Event::Exited`](crate::Event::Exited), [`NoProcess`](ExitReason::NoProcess) | ends with [`ProcessError::Linked`](crate::ProcessError::Linked) |
    ///
    /// (Erlang's rules, but that each call makes a link of its own.) Exactly one of those, however
    /// the end and this call race, unless they are [unlinked](Link::unlink) before. A process that
    /// runs ends after its step, as if [terminated](Self::terminate); one with a backlog, before
    /// its next step. It passes on to those who are linked to it what it ended by.
    ///
    /// A link of a process to itself does nothing.
    pub fn link(&self, one: Pid, other: Pid) -> Link {
        let bond = self.bond(Kind::Link, one, other);
        if one != other {
            self.tie(one, &bond);
            self.tie(other, &bond);
        }
        Link(bond)
    }

    fn bond(&self, kind: Kind, by: Pid, with: Pid) -> Arc<Bond> {
        Arc::new(Bond {
            kind,
            by,
            with,
            state: AtomicU8::new(WHOLE),
        })
    }

    /// Has the process `about` break the bond at its end.
    fn tie(&self, about: Pid, bond: &Arc<Bond>) {
        match self.signal(about, Signal::Tie(Arc::clone(bond))) {
            Ok(Heard::Surely) => {}
            // If its worker has found it all the same, it is broken already.
            Ok(Heard::Perhaps) | Err(_) => self.release(about, bond, &ExitReason::NoProcess),
        }
    }

    /// The process `from` is over: tells the other end of the bond, if nobody has.
    pub(crate) fn release(&self, from: Pid, bond: &Arc<Bond>, reason: &ExitReason) {
        if bond.break_up() {
            let exit = ExitSignal {
                from,
                bond: Arc::clone(bond),
                reason: reason.clone(),
            };
            // If that one has ended too, nobody is left to be told.
            let _ = self.signal(bond.other_than(from), Signal::Exit(Box::new(exit)));
        }
    }
}

macro_rules! bond_handle {
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
                write!(
                    f,
                    concat!(stringify!($name), "({}, {})"),
                    self.0.by, self.0.with
                )
            }
        }
    };
}

bond_handle!(Monitor);
bond_handle!(Link);
