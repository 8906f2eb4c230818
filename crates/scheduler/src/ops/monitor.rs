//! Watching processes, and linking them.

use std::sync::Arc;

use crate::table::{Watch, WatchKind, Watcher};

use crate::ops::signal::Heard;
use crate::table::item::{Item, Signal};
use crate::{Context, Down, ExitReason, Exited, Handle, Link, Monitor, Pid, Protocol};

impl<P: Protocol> Handle<P> {
    /// Has the process `watcher` told of the end of `watched`, by one
    /// [`Event::Down`](crate::Event::Down). Lock-free.
    ///
    /// Exactly one, however the end and this call race: if `watched` has ended, or never was, the
    /// event says [`ExitReason::NoSuchProcess`]. None if the watcher itself ends before, or
    /// [ends the monitor](Monitor::demonitor). Each call makes another monitor. `Down` arrives
    /// after every message that the ended process sent, and does not end a wait for commands.
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
    /// (Erlang's rules, except that each call makes another link.) Exactly one of those, however
    /// the end and this call race, unless they are [unlinked](Link::unlink) before. A process that
    /// runs ends after its step, as if [terminated](Self::terminate); one with a backlog, before
    /// its next step. It passes the reason on to the processes that are linked to it.
    ///
    /// A link of a process to itself does nothing.
    pub fn link(&self, one: Pid, other: Pid) -> Link {
        let watch = Watch::new(WatchKind::Link, one, other);
        if one != other {
            self.attach(one, &watch);
            self.attach(other, &watch);
        }
        Link(watch)
    }

    /// Has the process `about` fire the watch at its end.
    pub(crate) fn attach(&self, about: Pid, watch: &Arc<Watch>) {
        match self.signal(about, Signal::Attach(Watcher::Process(Arc::clone(watch)))) {
            Ok(Heard::Surely) => {}
            // If its worker has found it all the same, it has been fired already.
            Ok(Heard::Perhaps) | Err(_) => self.fire(about, watch, &ExitReason::NoSuchProcess),
        }
    }

    /// The process `pid` is over: does what was left in its queue for that moment.
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

    /// The process `from` is over: tells the other end of the watch, if nobody has.
    fn fire(&self, from: Pid, watch: &Arc<Watch>, reason: &ExitReason) {
        if watch.fire() {
            let (watch, reason) = (Arc::clone(watch), reason.clone());
            let other = watch.other_than(from);
            let told = match watch.kind() {
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
    /// Has this process told of the end of `watched`. See [`Handle::monitor`].
    pub fn monitor(&self, watched: Pid) -> Monitor {
        self.handle().monitor(self.pid(), watched)
    }

    /// Links this process and another. See [`Handle::link`].
    pub fn link(&self, other: Pid) -> Link {
        self.handle().link(self.pid(), other)
    }
}
