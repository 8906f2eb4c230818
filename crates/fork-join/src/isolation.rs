//! Regions in which a thread that waits runs nothing but what it waits for, and which of the jobs
//! that it forks belong to one.

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
                    self.worker.own_seat().isolation.close();
                }
            }
        }

        let outer = self
            .isolated_since
            .replace(Some(self.owner.spawned.position()));
        if outer.is_none() {
            self.own_seat()
                .isolation
                .open(self.forks().position() as u32);
        }
        let _leave = Leave {
            worker: self,
            outer,
        };
        work(self)
    }

    /// Returns whether the thread is in such a region.
    pub(crate) fn is_isolated(&self) -> bool {
        self.isolated_since.get().is_some()
    }
}

/// The isolated region that the thread in a seat is in, if any, and the index of its deque where it
/// began. All that is forked from there on belongs to it, and it does not end before that has.
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

    /// Returns whether the job that a thief took from that index of the deque belongs to it.
    pub(crate) fn has(&self, index: u32) -> bool {
        // ORDERING: Relaxed: if the job does, the region was open when it was pushed, and is open
        // until it has ended. If not, any region that is seen begins behind it.
        let word = self.0.load(Ordering::Relaxed);
        word & OPEN != 0 && is_since(index, word as u32)
    }
}

/// Returns whether an index of a deque is `base`, or lies behind it. Indices wrap.
pub(crate) fn is_since(index: u32, base: u32) -> bool {
    index.wrapping_sub(base) as i32 >= 0
}
