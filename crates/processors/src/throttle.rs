//! How many threads there are, and when another one is started.
//!
//! Threads are started by two only: a machine that holds a processor and is about to block, when nobody stands by; and a
//! resize. One is started at a time, and at most one per processor is wanted at a time, however many calls block: so no
//! timer is needed to keep a storm away. In all there are never more than the limit; beyond it a blocking call keeps its processor.

use std::io;
use std::num::NonZeroU64;

use filch_parker::Parker;
use filch_sync::Mutex;
use filch_sync::thread::JoinHandle;

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
    /// As many threads may be there at once.
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

/// What has to be joined, by machine.
#[derive(Default)]
pub(crate) struct Threads {
    handles: Mutex<Vec<Option<JoinHandle<()>>>>,
}

impl Threads {
    /// In place of the machine's former thread, which has left.
    pub(crate) fn put(&self, machine: usize, handle: JoinHandle<()>) {
        let mut handles = crate::lock(&self.handles);
        if handles.len() <= machine {
            handles.resize_with(machine + 1, || None);
        }
        handles[machine] = Some(handle);
    }

    /// Waits for all, also for those that come meanwhile.
    pub(crate) fn join(&self) {
        loop {
            let handles = std::mem::take(&mut *crate::lock(&self.handles));
            if handles.is_empty() {
                return;
            }
            for handle in handles.into_iter().flatten() {
                // A machine contains its tasks' panics, so it does not end by one.
                let _ = handle.join();
            }
        }
    }
}

impl Crew {
    /// A place for one more machine, if there may be one.
    pub(crate) fn vacancy(&self, roster: &mut Roster) -> Option<usize> {
        if self.notice().stopping {
            return None;
        }
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
        let mut roster = self.roster();
        if started {
            roster.started += 1;
        } else {
            roster.refused += 1;
            roster.threads -= 1;
            roster.vacant.push(place);
        }
        started
    }

    /// The thread of that place has begun: its parker.
    pub fn enter(&self, machine: usize) -> Parker {
        self.member(machine).set(Doing::Parked);
        match self.roster().parkers[machine].take() {
            Some(parker) => parker,
            None => unreachable!("a place has one thread"),
        }
    }

    /// The thread has been told to leave, or has given its processor up for good. Whether it was the last one of all.
    pub fn exit(&self, machine: usize, parker: Parker) -> bool {
        self.member(machine).set(Doing::Gone);
        let mut roster = self.roster();
        roster.parkers[machine] = Some(parker);
        roster.vacant.push(machine);
        roster.threads -= 1;
        self.dismiss(&mut roster);
        roster.threads == 0 && self.notice().stopping
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
            limit: self.members.len(),
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

    /// The same, with the system's reason. One thread is started at a time.
    pub(crate) fn try_start_thread(&self, machine: usize) -> io::Result<()> {
        let starter = crate::lock(&self.starter);
        let Some(starter) = &*starter else {
            return Err(io::Error::other("the pool does not run"));
        };
        self.threads.put(machine, starter.start(machine)?);
        Ok(())
    }
}
