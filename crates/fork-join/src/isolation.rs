//! Regions in which a thread that waits runs nothing but what it waits for; and which of the jobs
//! that it forks belong to one, or to a job that it has begun in a wait.

use filch_sync::atomic::{AtomicU64, Ordering};

use crate::worker::Worker;

impl Worker {
    /// Runs `work` here and now. As long as it runs, this thread runs no job that is not part of
    /// it: where it waits, for a branch or the end of a scope, it runs what that has forked and
    /// spawned itself, or sleeps. The same holds for every thread that runs a part of it.
    ///
    /// For code that holds a lock, or has something borrowed, across a [`join`](Self::join): a job
    /// that wants the same is not begun on top of it, nor on top of a part of it. What it costs is
    /// that threads sleep beside work of others. (The last job that
    /// [may stand on a stack](crate::Config::nested_jobs) runs in such a region, too.)
    ///
    /// A scope that was opened outside is no part of it, nor is what `work` spawns into that, or
    /// without a scope. Another thread has to run it, or this one afterwards. A
    /// [broadcast](Self::broadcast) that is awaited in here may never end, if another thread waits
    /// for the lock. A job that a thread of another pool or of none spawns into a scope of `work`'s
    /// waits for a thread that is in no such region.
    ///
    /// ```
    /// use std::sync::Mutex;
    /// use filch_fork_join::Pool;
    ///
    /// let numbers = Mutex::new(vec![3, 1, 2]);
    /// let pool = Pool::new(2)?;
    /// pool.scope(|scope| {
    ///     for _ in 0..10 {
    ///         scope.spawn(|worker, _| {
    ///             worker.isolate(|worker| {
    ///                 let mut numbers = numbers.lock().unwrap();
    ///                 let (left, right) = numbers.split_at_mut(1);
    ///                 // None of the other jobs is run while this waits, with the lock in hand.
    ///                 worker.join(|_| left.sort(), |_| right.sort());
    ///             });
    ///         });
    ///     }
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If `work` does.
    #[inline(never)] // not in the frame of each job that may be in a region
    pub fn isolate<R>(&self, work: impl FnOnce(&Self) -> R) -> R {
        /// Also if `work` unwinds.
        struct Leave<'worker> {
            worker: &'worker Worker,
            outer: Option<u64>,
        }

        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                // A job of a scope leaves nothing to a thread that may not come back to it.
                while self.worker.run(self.worker.find_in_region()) {}
                self.worker.isolated_since.set(self.outer);
                if self.outer.is_none() {
                    self.worker.own_seat().region.close();
                }
            }
        }

        let outer = self
            .isolated_since
            .replace(Some(self.owner.spawned.position()));
        if outer.is_none() {
            self.own_seat().region.open(self.forks().position() as u32);
        }
        let _leave = Leave {
            worker: self,
            outer,
        };
        work(self)
    }

    /// Whether the thread is in such a region.
    pub(crate) fn is_isolated(&self) -> bool {
        self.isolated_since.get().is_some()
    }
}

/// Whether the thread in a seat is in an isolated region, and from which index of its deque on. All
/// that is forked from there on belongs to it, and it does not end before that has.
#[derive(Default)]
pub(crate) struct IsolationMark(AtomicU64);

/// The thread is in one. Below it is the index.
const OPEN: u64 = 1 << 32;

impl IsolationMark {
    pub(crate) fn open(&self, index: u32) {
        // ORDERING: Relaxed: released with the jobs that are forked in it.
        self.0.store(OPEN | u64::from(index), Ordering::Relaxed);
    }

    pub(crate) fn close(&self) {
        // ORDERING: Relaxed: no thief has a job of the region any more, and what it says of older
        // jobs is the same.
        self.0.store(0, Ordering::Relaxed);
    }

    /// Whether the job that a thief has taken from that index of the deque belongs to it.
    pub(crate) fn has(&self, index: u32) -> bool {
        // ORDERING: Relaxed: if the job does, the region was open when it was pushed, and is open
        // until it has ended. If not, any region that is seen begins behind it.
        let word = self.0.load(Ordering::Relaxed);
        word & OPEN != 0 && is_since(index, word as u32)
    }
}

/// From which index of its deque on the jobs that a thread forks are parts of the last job that it
/// has begun in the middle of another one, of which that is no part.
#[derive(Debug, Default)]
pub struct JobBoundary(AtomicU64);

/// The job below has forked nothing that would lie before the index: what is stolen from there on
/// may be a part of the one or of the other.
const UNCLEAR: u64 = 2 << 32;

impl JobBoundary {
    /// A job is begun there, in the middle of one that was begun when the deque ended at `below`.
    /// Returns what is to be [restored](Self::restore) at its end.
    pub fn enter(&self, index: u32, below: Option<u32>) -> u64 {
        let unclear = if below == Some(index) { UNCLEAR } else { 0 };
        // ORDERING: Relaxed: the thread's own word. For others, released with the jobs that are
        // forked in there.
        let outer = self.0.load(Ordering::Relaxed);
        self.0
            .store(OPEN | unclear | u64::from(index), Ordering::Relaxed);
        outer
    }

    /// That job has ended.
    pub fn restore(&self, outer: u64) {
        // ORDERING: Relaxed: no thief has a part of that job any more.
        self.0.store(outer, Ordering::Relaxed);
    }

    /// Whether what was taken from `index` of the deque is certainly a part of the job that runs
    /// since the deque ended at `base`. What lies before `base` is none.
    pub fn is_part(&self, index: u32, base: u32) -> bool {
        // ORDERING: Relaxed: the job in which it was forked has been entered before it was pushed,
        // and is not left before it has ended. One that is seen in place of that was entered later,
        // and so behind `index`.
        let word = self.0.load(Ordering::Relaxed);
        let entered = word as u32;
        if word & OPEN == 0 {
            return true;
        }
        let is_inside = is_since(index, entered);
        is_inside && is_since(base, entered) && (base != entered || word & UNCLEAR == 0)
    }
}

/// Whether an index of a deque is `base`, or lies behind it. Indices wrap.
pub(crate) fn is_since(index: u32, base: u32) -> bool {
    index.wrapping_sub(base) as i32 >= 0
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::JobBoundary;

    /// What is stolen from there on is a part of a job that began there, or before.
    #[test]
    fn what_is_inside_is_a_part() {
        let nest = JobBoundary::default();
        assert!(nest.is_part(7, 5));
        let outermost = nest.enter(7, Some(5));
        assert!(nest.is_part(7, 7) && nest.is_part(9, 8));
        assert!(!nest.is_part(7, 5), "of the job below");
        let outer = nest.enter(9, Some(7));
        assert!(!nest.is_part(8, 7), "something has begun behind it");
        assert!(nest.is_part(9, 9) && !nest.is_part(9, 7));
        nest.restore(outer);
        assert!(nest.is_part(8, 7));
        nest.restore(outermost);
        assert!(nest.is_part(7, 5));
    }

    /// A job that has forked nothing, and one in the middle of it, begin at the same index.
    #[test]
    fn what_may_be_of_either_is_no_part() {
        let nest = JobBoundary::default();
        let outer = nest.enter(u32::MAX, Some(u32::MAX));
        assert!(!nest.is_part(u32::MAX, u32::MAX) && !nest.is_part(0, u32::MAX));
        assert!(nest.is_part(1, 0));
        nest.restore(outer);
        assert!(nest.is_part(0, u32::MAX));
    }
}
