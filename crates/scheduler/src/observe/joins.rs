//! Which futures wait for the end of which processes, as far as the scheduler has a hand in it.

use std::collections::HashMap;
use std::ptr;
use std::task::Waker;

use filch_sync::{CachePadded, Mutex, MutexGuard, lock};

use crate::Protocol;
use crate::table::pid::Pid;
use crate::table::slot::Slot;

/// Which waker is called at the end of which process, of those that join handles have left.
///
/// An entry is there only while the handle's promise keeps a clone of the waker: it is put in after
/// the clone, and taken out before. So a thread that counts a future's clones first, and then looks
/// here, never takes a clone that is elsewhere for one of these.
///
/// One of several locks is held for a moment by a handle that is awaited and finds its process
/// alive, and when that wait is over; a standstill takes one after the other.
#[derive(Default)]
pub(crate) struct Joins {
    /// By the slot of the process that is awaited.
    shards: [CachePadded<Mutex<HashMap<Pid, WakerId>>>; SHARDS],
}

/// So many that two workers rarely meet.
const SHARDS: usize = 16;

/// Tells one future's wakers from another's: the address of what they share. (Of the other word of
/// a waker, its table of functions, there may be several copies.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct WakerId(usize);

impl WakerId {
    pub(crate) fn of(waker: &Waker) -> Self {
        Self(waker.data().addr())
    }

    /// Of the wakers of a future of the scheduler's: these share its slot.
    pub(crate) fn of_future_in<P: Protocol>(slot: &Slot<P>) -> Self {
        Self(ptr::from_ref(slot).addr())
    }
}

impl Joins {
    fn shard(&self, awaited: Pid) -> MutexGuard<'_, HashMap<Pid, WakerId>> {
        let shard = &self.shards[awaited.slot() as usize % SHARDS];
        lock(shard)
    }

    /// The end of `awaited` calls that waker from now on. There is one handle to a process.
    pub(crate) fn insert(&self, awaited: Pid, waker: WakerId) {
        self.shard(awaited).insert(awaited, waker);
    }

    /// It does not call it any more.
    pub(crate) fn remove(&self, awaited: Pid) {
        self.shard(awaited).remove(&awaited);
    }

    /// What each of the wakers is called by.
    pub(crate) fn by_waker(&self) -> HashMap<WakerId, Vec<Pid>> {
        let mut by_waker = HashMap::<_, Vec<_>>::new();
        for shard in &self.shards {
            for (&awaited, &waker) in &*lock(shard) {
                by_waker.entry(waker).or_default().push(awaited);
            }
        }
        by_waker
    }
}
