//! Watches: which process is told of whose end, exactly once.

use std::sync::Arc;

use filch_sync::atomic::{AtomicU8, Ordering};

use crate::api::end_call::PendingCall;
use crate::table::pid::Pid;

/// One process told of the end of another, or two of each other's.
///
/// A watch is attached to each process that it is *about*: the process's worker keeps it in
/// [`Watchers`], or finds it in the queue at the end. A thread that finds that the process is over
/// [fires](Self::fire) the watch, and the one that succeeds tells the other side.
#[derive(Debug)]
pub(crate) struct Watch {
    kind: WatchKind,
    by: Pid,
    with: Pid,
    state: AtomicU8,
}

/// Which of the two is told of which end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WatchKind {
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
    /// Neither fired nor cancelled.
    pub(crate) fn new(kind: WatchKind, by: Pid, with: Pid) -> Arc<Self> {
        let state = AtomicU8::new(ARMED);
        Arc::new(Self {
            kind,
            by,
            with,
            state,
        })
    }

    /// Whether one of the two is told of the other's end, or each.
    pub(crate) fn kind(&self) -> WatchKind {
        self.kind
    }

    /// The process that has the watch.
    pub(crate) fn by(&self) -> Pid {
        self.by
    }

    /// The other process.
    pub(crate) fn with(&self) -> Pid {
        self.with
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

    /// Neither side is to be told any more. Whether this was in time: it had not fired.
    pub(crate) fn cancel(&self) -> bool {
        // ORDERING: Relaxed: for the process that is not to be told, see `is_cancelled`.
        self.state.swap(CANCELLED, Ordering::Relaxed) == ARMED
    }

    /// Whether it was cancelled, as far as the calling worker knows, which would deliver its end.
    /// If a process cancels it in a step, the workers of all later steps see that: the edges of its
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

/// What is told of the end of a process.
pub(crate) enum Watcher {
    /// The other process of a watch.
    Process(Arc<Watch>),
    /// A call that is no process's.
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
    /// Adds one. Sweeps out those that are over before it allocates: so there are at most twice as
    /// many as were ever pending at a time, at an amortised constant cost.
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
