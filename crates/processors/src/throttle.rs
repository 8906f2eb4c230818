//! How many threads there are, and when another one is started.
//!
//! All at once they are started by `start` alone. Later by three only: a machine that holds a
//! processor and is about to block, when nobody stands by; a resize; and who reserves one. One is
//! started at a time, and at most one per processor is wanted at a time, however many calls block:
//! so no timer is needed to keep a storm away. At the limit a blocking call keeps its processor.
//! Bound threads have a limit of their own, and of those that have been told to leave one per
//! processor may come on top of it.

use std::io;
use std::num::NonZeroU64;

use filch_parker::Parker;
use filch_sync::Mutex;
use filch_sync::thread::{self, JoinHandle};

use crate::Processors;
use crate::crew::{Crew, Doing, Member};
use crate::roster::Roster;

/// The threads of a pool, as counted at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadStats {
    /// Threads there are.
    pub threads: usize,
    /// Of those, the ones that stand by without a processor.
    pub spares: usize,
    /// Of those, the ones that are in a blocking call and have given their processor away.
    pub blocking: usize,
    /// Of those, the ones that are back from a blocking call and wait for a processor.
    pub waiting: usize,
    /// Of those, the ones that tasks are bound to.
    pub bound: usize,
    /// As many threads may be there at once, bound ones and those aside that have been told to
    /// leave.
    pub limit: usize,
    /// Threads started so far.
    pub started: u64,
    /// Times a thread was wanted for a blocking call or a resize, and could not be had.
    pub refused: u64,
}

/// Starts the thread of a machine.
pub(crate) trait Start<T>: Send + Sync {
    fn start(&self, machine: usize) -> io::Result<JoinHandle<()>>;

    /// What the runner calls a task, for a [`Dump`](crate::Dump).
    fn label(&self, task: &T) -> Option<NonZeroU64>;

    /// What a person should read for that.
    fn describe(&self, label: NonZeroU64) -> String;
}

/// What has to be joined.
#[derive(Default)]
pub(crate) struct Threads {
    /// With the machine's place. A thread that has left is there until another one in its place
    /// leaves, or somebody joins all.
    handles: Mutex<Vec<(usize, JoinHandle<()>)>>,
    /// Held during a start or a resize: what these have begun, who joins the threads waits for.
    pub(crate) resizing: Mutex<()>,
}

impl Threads {
    /// Starts a thread. Under the lock: it finds itself in the list.
    fn start(
        &self,
        machine: usize,
        start: impl FnOnce(usize) -> io::Result<JoinHandle<()>>,
    ) -> io::Result<()> {
        let mut handles = crate::lock(&self.handles);
        handles.push((machine, start(machine)?));
        Ok(())
    }

    /// The thread is about to leave its place to the next one. The one that had it before has
    /// nothing left but to exit; when this one is joined, that one has.
    pub(crate) fn outlive(&self, machine: usize) {
        let own = thread::current().id();
        let former: Vec<_> = crate::lock(&self.handles)
            .extract_if(.., |(place, handle)| {
                *place == machine && handle.thread().id() != own
            })
            .collect();
        for (_, handle) in former {
            let _ = handle.join();
        }
    }

    /// Waits for all, also for those that come meanwhile.
    pub(crate) fn join(&self) {
        let own = thread::current().id();
        loop {
            let handles = {
                let _begun = crate::lock(&self.resizing);
                let mut handles = crate::lock(&self.handles);
                assert!(
                    handles
                        .iter()
                        .all(|(_, handle)| handle.thread().id() != own),
                    "a thread of the pool that joins its threads waits for itself"
                );
                std::mem::take(&mut *handles)
            };
            if handles.is_empty() {
                return;
            }
            for (_, handle) in handles {
                // A machine contains its tasks' panics, so it does not end by one.
                let _ = handle.join();
            }
        }
    }
}

impl Crew {
    /// A place for one more machine that no tasks are bound to, if there may be one. Those that
    /// have been told to leave do not count: or a call at the limit would keep its processor
    /// because of a thread that is as good as gone. But only one of them per processor: they may
    /// take their time.
    pub(crate) fn vacancy(&self, roster: &mut Roster) -> Option<usize> {
        let on_top = roster.leaving.min(self.attached.len());
        if roster.unbound() >= self.limit + on_top {
            roster.refused += 1;
            return None;
        }
        self.place(roster)
    }

    /// A place for one more machine.
    pub(crate) fn place(&self, roster: &mut Roster) -> Option<usize> {
        let place = roster.vacant.pop().or_else(|| {
            let place = roster.parkers.len();
            let parker = Parker::new();
            let member = self.members.get(place)?;
            member.set(Member::new(&parker)).ok()?;
            roster.parkers.push(Some(parker));
            Some(place)
        });
        match place {
            None => roster.refused += 1,
            Some(_) => roster.threads += 1,
        }
        place
    }

    /// Starts a thread for a place that was vacant; if that cannot be, it is so again.
    pub(crate) fn try_start(&self, place: usize, start: impl FnOnce(usize) -> bool) -> bool {
        let started = start(place);
        self.settle(place, started, &mut self.roster());
        started
    }

    /// The thread for that place is there, or could not be had.
    pub(crate) fn settle(&self, place: usize, started: bool, roster: &mut Roster) {
        if started {
            roster.started += 1;
        } else {
            roster.refused += 1;
            roster.threads -= 1;
            roster.vacant.push(place);
        }
    }

    /// The thread of that place has begun: its parker.
    pub fn enter(&self, machine: usize) -> Parker {
        self.member(machine).set(Doing::Parked);
        match self.roster().parkers[machine].take() {
            Some(parker) => parker,
            None => unreachable!("a place has one thread"),
        }
    }

    /// The thread has been told to leave. It must ask [`is_deserted`](Self::is_deserted)
    /// afterwards.
    pub fn exit(&self, machine: usize, parker: Parker) {
        self.member(machine).set(Doing::Gone);
        let mut roster = self.roster();
        roster.parkers[machine] = Some(parker);
        roster.vacant.push(machine);
        roster.threads -= 1;
        roster.leaving -= 1;
    }

    pub(crate) fn thread_stats(&self) -> ThreadStats {
        let roster = self.roster();
        ThreadStats {
            threads: roster.threads,
            spares: roster.spares.len(),
            // ORDERING: Relaxed: a figure.
            blocking: self.away.load(filch_sync::atomic::Ordering::Relaxed),
            waiting: roster.waiters.len(),
            bound: roster.bonds.len(),
            limit: self.limit,
            started: roster.started,
            refused: roster.refused,
        }
    }
}

impl<T: Send + 'static> Processors<T> {
    /// How many threads there are, and what they do. Takes a lock for a moment.
    pub fn threads(&self) -> ThreadStats {
        self.crew.thread_stats()
    }

    /// Starts a machine's thread; whether that was possible.
    pub(crate) fn start_thread(&self, machine: usize) -> bool {
        self.try_start_thread(machine).is_ok()
    }

    /// The same, with the system's reason.
    pub(crate) fn try_start_thread(&self, machine: usize) -> io::Result<()> {
        let starter = crate::lock(&self.starter);
        let Some(starter) = &*starter else {
            return Err(io::Error::other("the pool does not run"));
        };
        self.threads
            .start(machine, |machine| starter.start(machine))
    }
}
