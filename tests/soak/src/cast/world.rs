//! The state that everybody in one phase shares.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use filch_actors::timers::{TimerKey, Timers};
use filch_scheduler::{BoundThread, Handle, Pid, ProcessHandle, ProcessInfo};

use crate::account::{Count, Flag, Kind, Life, Pen, Watches, alive, lock};
use crate::cast::{Shelf, Soak, Spawned, Tide};
use crate::plan::{Mix, Peer, Role};

/// The counts of one scheduler's hooks and processes: they outlive the phases.
#[derive(Default)]
pub(crate) struct Roster {
    by_pid: Mutex<HashMap<Pid, Arc<Life>>>,
    /// Steps of processes, and polls of futures.
    pub(crate) steps: Count,
    /// Events given to steps.
    pub(crate) events: Count,
    /// Commands given to the handler.
    pub(crate) commands: Count,
    /// The number of ends, and of those that were not normal.
    pub(crate) ended: Count,
    pub(crate) failed: Count,
}

impl Roster {
    pub(crate) fn enter(&self, pid: Pid, life: &Arc<Life>) {
        lock(&self.by_pid).insert(pid, Arc::clone(life));
    }

    pub(crate) fn find(&self, pid: Pid) -> Option<Arc<Life>> {
        lock(&self.by_pid).get(&pid).cloned()
    }

    pub(crate) fn leave(&self, pid: Pid) -> Option<Arc<Life>> {
        lock(&self.by_pid).remove(&pid)
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.by_pid).len()
    }
}

/// The state that everybody in one phase shares.
pub(crate) struct World {
    pub(crate) mix: Mix,
    /// The limit of processes.
    pub(crate) limit: Option<usize>,
    pub(crate) has_handler: bool,
    /// The prefix of this phase's names, which are not used again.
    pub(crate) prefix: String,
    pub(crate) roster: Arc<Roster>,
    pub(crate) watches: Watches,
    pub(crate) timers: Timers,
    pub(crate) shelf: Shelf,
    pub(crate) tide: Tide,
    /// Up when the burst is over: nobody starts anything any more.
    pub(crate) resting: Flag,
    /// Up when the scheduler is being shut down.
    pub(crate) shutting: Flag,
    pub(crate) unbound: Flag,
    pub(crate) futures: Mutex<Vec<Spawned>>,
    lives: Mutex<Vec<Arc<Life>>>,
    handles: Mutex<Vec<(Arc<Life>, ProcessHandle<Soak>)>>,
    bound: Mutex<Option<Arc<BoundThread<Soak>>>>,
    intervals: Mutex<Vec<TimerKey>>,
    senders: Count,
    /// The number of names that are used once.
    pub(crate) names_given: Count,
}

/// The number of recent processes that most deeds are about: older ones have ended.
const RECENT: u64 = 40;

impl World {
    /// # Errors
    /// If the system refuses the thread for the timers.
    pub(crate) fn new(
        mix: Mix,
        limit: Option<usize>,
        has_handler: bool,
        prefix: String,
        roster: &Arc<Roster>,
    ) -> std::io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            mix,
            limit,
            has_handler,
            prefix,
            roster: Arc::clone(roster),
            watches: Watches::default(),
            timers: Timers::new()?,
            shelf: Shelf::default(),
            tide: Tide::default(),
            resting: Flag::default(),
            shutting: Flag::default(),
            unbound: Flag::default(),
            futures: Mutex::default(),
            lives: Mutex::default(),
            handles: Mutex::default(),
            bound: Mutex::default(),
            intervals: Mutex::default(),
            senders: Count::new(),
            names_given: Count::new(),
        }))
    }

    pub(crate) fn pen(&self) -> Pen {
        Pen::new(self.senders.add(1) as u32)
    }

    /// Opens the accounts of one more submission.
    pub(crate) fn birth(&self, role: Role) -> Arc<Life> {
        let mut lives = lock(&self.lives);
        let life = Arc::new(Life::new(lives.len() as u32, role));
        lives.push(Arc::clone(&life));
        life
    }

    pub(crate) fn lives(&self) -> Vec<Arc<Life>> {
        lock(&self.lives).clone()
    }

    pub(crate) fn peer(&self, peer: Peer) -> Option<Arc<Life>> {
        let lives = lock(&self.lives);
        let count = lives.len() as u64;
        let among = if peer.is_multiple_of(8) {
            count
        } else {
            count.min(RECENT)
        };
        let back = (peer / 8).checked_rem(among)?;
        lives.get((count - 1 - back) as usize).cloned()
    }

    pub(crate) fn keep(&self, life: &Arc<Life>, handle: ProcessHandle<Soak>) {
        lock(&self.handles).push((Arc::clone(life), handle));
    }

    /// Takes out one of the kept handles.
    pub(crate) fn take_handle(&self, index: u64) -> Option<(Arc<Life>, ProcessHandle<Soak>)> {
        let mut handles = lock(&self.handles);
        let place = index.checked_rem(handles.len() as u64)?;
        Some(handles.swap_remove(place as usize))
    }

    pub(crate) fn bound(&self) -> Option<Arc<BoundThread<Soak>>> {
        lock(&self.bound).clone()
    }

    /// Keeps the thread, if there is none yet; otherwise returns it.
    pub(crate) fn bind(&self, thread: BoundThread<Soak>) -> Option<BoundThread<Soak>> {
        let mut bound = lock(&self.bound);
        if bound.is_some() {
            return Some(thread);
        }
        *bound = Some(Arc::new(thread));
        None
    }

    /// Lets go of the reserved thread.
    pub(crate) fn unbind(&self) {
        self.unbound.raise();
        let thread = lock(&self.bound).take();
        drop(thread);
    }

    pub(crate) fn ticks(&self, interval: TimerKey) {
        lock(&self.intervals).push(interval);
        if self.resting.is_up() {
            self.stop_intervals();
        }
    }

    fn stop_intervals(&self) {
        let intervals = std::mem::take(&mut *lock(&self.intervals));
        for interval in intervals {
            self.timers.cancel(interval);
        }
    }

    /// Releases everything that others hold back.
    pub(crate) fn release(&self) {
        self.resting.raise();
        self.stop_intervals();
        self.shelf.answer_all();
        self.tide.open();
    }

    /// Returns what is not at rest, if anything: it waits for an event that has yet to come.
    pub(crate) fn unrest(&self, handle: &Handle<Soak>) -> Option<String> {
        for life in self.lives() {
            if let Some(unrest) = life.unrest() {
                let info = life.pid().and_then(|pid| handle.info(pid));
                return Some(format!("{unrest}; it is {info:?}"));
            }
        }
        let timers = self.timers.pending();
        if timers > 0 || !self.shelf.is_empty() {
            return Some(format!("{timers} timers or some commands are underway"));
        }
        if let Some((_, count)) = alive().into_iter().find(|(kind, _)| *kind == Kind::Future) {
            return Some(format!("{count} futures have not ended"));
        }
        if let Some(unrest) = self.watches.unrest() {
            return Some(unrest);
        }
        let running = handle.list().into_iter().find(ProcessInfo::can_run)?;
        Some(format!("process {} is {}", running.pid, running.activity))
    }
}
