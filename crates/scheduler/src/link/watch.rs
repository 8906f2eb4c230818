//! Watches: one process is told of the end of another, exactly once.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use filch_process_state::Wake;
use filch_sync::atomic::{AtomicU8, Ordering};
use filch_sync::panic::catch_panic;
use filch_sync::{Mutex, lock};

use crate::link::exit_reason::ExitReason;
use crate::table::body::{Item, Signal};
use crate::table::pid::Pid;
use crate::{Context, Handle, Protocol};

/// A watch, which tells of the end of a process, once: another process, from
/// [`Handle::monitor`]; two each other, from [`Handle::link`]; or a callback, from
/// [`Handle::at_end`]. Dropping it changes nothing. Clones are equal.
///
/// It is attached to each process that it is about: the process's worker keeps it in its list, or
/// finds it in the queue at the end. A thread that finds the process over fires the watch; the one
/// that succeeds tells the other side.
#[derive(Clone)]
pub struct Watch(Arc<Inner>);

struct Inner {
    kind: WatchKind,
    /// The process that has the watch.
    by: Pid,
    /// The other process; the same one if a callback is told.
    with: Pid,
    state: AtomicU8,
    /// The callback. The thread that fires or cancels the watch takes it, so none waits for the
    /// lock.
    call: Mutex<Option<Call>>,
}

type Call = Box<dyn FnOnce(&ExitReason) + Send>;

/// The direction of a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WatchKind {
    /// `by` is told of the end of `with`.
    Monitor,
    /// Each is told of the other's end, and perhaps ends by it.
    Link,
    /// A callback is told of the end of `with`.
    Call,
}

/// Neither fired nor cancelled.
const ARMED: u8 = 0;
/// One process is over, and the other is being told.
const FIRED: u8 = 1;
/// Neither process is to be told any more.
const CANCELLED: u8 = 2;

impl Watch {
    /// Makes an armed watch; one that tells a callback has a `call`.
    pub(crate) fn new(kind: WatchKind, by: Pid, with: Pid, call: Option<Call>) -> Self {
        Self(Arc::new(Inner {
            kind,
            by,
            with,
            state: AtomicU8::new(ARMED),
            call: Mutex::new(call),
        }))
    }

    /// Fires the watch; returns true to at most one caller ever, which must tell the other side.
    pub(crate) fn fire(&self) -> bool {
        // ORDERING: Relaxed: it only decides which of several is first; what they tell goes through
        // a queue.
        let state = &self.0.state;
        let fired = state.compare_exchange(ARMED, FIRED, Ordering::Relaxed, Ordering::Relaxed);
        fired.is_ok()
    }

    /// Cancels the watch, and drops its callback: if one of its processes calls this in a step,
    /// none of its later steps is told by this watch, or is its last because of it. Returns true if
    /// it was in time: no process had been found over. Wait-free.
    ///
    /// A watched process is not woken for it, and forgets it when other watches are added.
    #[doc(alias = "demonitor")]
    pub fn cancel(&self) -> bool {
        // ORDERING: Relaxed: for the process that is not to be told, see `state`.
        let in_time = self.0.state.swap(CANCELLED, Ordering::Relaxed) == ARMED;
        if in_time {
            drop(lock(&self.0.call).take());
        }
        in_time
    }

    /// Checks if it was cancelled, as far as the calling worker, which would deliver its end,
    /// knows.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.state() == CANCELLED
    }

    fn state(&self) -> u8 {
        // ORDERING: Relaxed: if a process cancels it in a step, the workers of all later steps see
        // that: the edges of its state order them. A sweep that comes a moment too early or too
        // late keeps or drops one reference.
        self.0.state.load(Ordering::Relaxed)
    }

    /// Checks if it links two processes.
    pub(crate) fn is_link(&self) -> bool {
        self.0.kind == WatchKind::Link
    }

    /// Returns the process that is told by a monitor; of a link, the first one.
    pub fn watcher(&self) -> Pid {
        self.0.by
    }

    /// Returns the process that is watched; of a link, the second one.
    pub fn watched(&self) -> Pid {
        self.0.with
    }

    /// Returns the process at the other end from `one`.
    pub fn other_than(&self, one: Pid) -> Pid {
        if self.0.by == one {
            self.0.with
        } else {
            self.0.by
        }
    }
}

impl PartialEq for Watch {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Watch {}

impl Hash for Watch {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.0.by, self.0.with)
    }
}

/// The watches of a process, which only the worker that has the process touches.
#[derive(Default)]
pub(crate) struct Watches {
    list: Vec<Watch>,
    /// The place of the one to look at next.
    looks_at: usize,
}

impl Watches {
    /// Adds a watch, looks at two others in turn, and drops those that are over. So these never
    /// outnumber the armed ones by much, and a supervisor of a hundred thousand never has to look
    /// at all of them.
    pub(crate) fn add(&mut self, watch: Watch) {
        for _ in 0..2 {
            match self.list.get(self.looks_at).map(Watch::state) {
                Some(ARMED) => self.looks_at += 1,
                Some(_) => drop(self.list.swap_remove(self.looks_at)),
                None => self.looks_at = 0,
            }
        }
        if self.list.len() == self.list.capacity() {
            self.list.reserve_exact(self.list.len().max(1));
        }
        self.list.push(watch);
    }

    pub(crate) fn as_slice(&self) -> &[Watch] {
        &self.list
    }
}

/// The news that a process is over, for one that watches it or is linked to it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Ended {
    /// The process.
    pub pid: Pid,
    /// The watch that tells it.
    pub watch: Watch,
    /// The reason for its end.
    pub reason: ExitReason,
}

impl Ended {
    /// Checks if it ends a process that does not trap exits.
    pub(crate) fn is_deadly(&self) -> bool {
        self.watch.is_link() && !self.reason.is_normal()
    }
}

impl<P: Protocol> Handle<P> {
    /// Tells the process `watcher` of the end of `watched`, by one
    /// [`Event::Down`](crate::Event::Down). Lock-free.
    ///
    /// Exactly one, however the end and this call race: if `watched` has ended, or never was, the
    /// event says [`ExitReason::NoSuchProcess`]. None if the watcher itself ends before, or
    /// [cancels](Watch::cancel) the watch. Each call makes another one. `Down` arrives after all
    /// messages of the ended process, and does not end a wait for commands.
    pub fn monitor(&self, watcher: Pid, watched: Pid) -> Watch {
        let watch = Watch::new(WatchKind::Monitor, watcher, watched, None);
        self.attach(watched, &watch);
        watch
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
    /// however the end and this call race, unless the link is [cancelled](Watch::cancel) before. A
    /// process that runs ends after its step, as if [terminated](Self::terminate); one with a
    /// backlog, before its next step. It passes the reason on to all that are linked to it.
    ///
    /// Linking a process to itself does nothing.
    pub fn link(&self, one: Pid, other: Pid) -> Watch {
        let watch = Watch::new(WatchKind::Link, one, other, None);
        if one != other {
            self.attach(one, &watch);
            self.attach(other, &watch);
        }
        watch
    }

    /// Calls `call` exactly once, when the process `pid` has ended, unless it is
    /// [cancelled](Watch::cancel) before: on the worker that ends the process, where it should be
    /// short, and its panic is lost. Lock-free, except for memory. Processes use
    /// [`monitor`](Self::monitor) instead.
    ///
    /// If the process has ended, or never was, `call` runs here, with
    /// [`ExitReason::NoSuchProcess`]. The process's acts happen before the call.
    pub fn at_end(&self, pid: Pid, call: impl FnOnce(&ExitReason) + Send + 'static) -> Watch {
        let watch = Watch::new(WatchKind::Call, pid, pid, Some(Box::new(call)));
        self.attach(pid, &watch);
        watch
    }

    /// Makes the process `about` fire the watch at its end.
    pub(crate) fn attach(&self, about: Pid, watch: &Watch) {
        let attached = self.signal(about, Signal::Attach(watch.clone()));
        // Accepted: before the end, in the order of the state's edges, which is not taken before
        // the queue is drained after this wake-up. Refused: either after the end; then the wake-up
        // has acquired that, and the closed queue is seen. The worker may have overlooked the
        // watch; if not, it has fired it. Or before the process's life has begun: then what comes
        // next, the first turn or the end of a process that is turned away, acquires the push.
        if !attached.is_ok_and(|wake| wake != Wake::Refused) && !self.lives(about) {
            self.fire(watch, about, &ExitReason::NoSuchProcess);
        }
    }

    /// Handles an item left in the queue of the process `pid`, which is over.
    pub(crate) fn tell_end(&self, item: Item<P>, pid: Pid, reason: &ExitReason) {
        if let Item::Signal(Signal::Attach(watch)) = item {
            self.fire(&watch, pid, reason);
        }
    }

    /// Tells the other end of the watch that the process `pid` is over, if nobody has.
    pub(crate) fn fire(&self, watch: &Watch, pid: Pid, reason: &ExitReason) {
        if !watch.fire() {
            return;
        }
        if watch.0.kind == WatchKind::Call {
            let call = lock(&watch.0.call).take();
            let _ = catch_panic(|| call.map(|call| call(reason)));
            return;
        }
        let (watch, reason) = (watch.clone(), reason.clone());
        let other = watch.other_than(pid);
        let ended = Ended { pid, watch, reason };
        // If that one has ended too, nobody is left to be told.
        let _ = self.signal(other, Signal::Ended(Box::new(ended)));
    }
}

impl<P: Protocol> Context<'_, P> {
    /// Tells this process of the end of `watched`. See [`Handle::monitor`].
    pub fn monitor(&self, watched: Pid) -> Watch {
        self.handle().monitor(self.pid(), watched)
    }

    /// Links this process and another. See [`Handle::link`].
    pub fn link(&self, other: Pid) -> Watch {
        self.handle().link(self.pid(), other)
    }
}
