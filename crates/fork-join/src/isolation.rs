//! Regions in which a thread that waits runs nothing but what it waits for.

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
                    self.worker.region().close();
                }
            }
        }

        let outer = self.isolated_since.replace(Some(self.spawned_position()));
        if outer.is_none() {
            self.region().open(self.forks().position() as u32);
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
