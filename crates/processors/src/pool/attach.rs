//! Work beside the tasks: attaches a source of it to a pool, and tells the pool of new work.

use std::sync::Arc;

use crate::pool::processors::Processors;
use crate::queues::source::{AttachError, Source};

impl<T: Send + 'static> Processors<T> {
    /// Makes the pool's threads run the source's external tasks behind the tasks, for good: a
    /// processor that has found no task anywhere takes one; one that is never without tasks takes
    /// one every 100 µs, or after each second task if these are longer. Before or after
    /// [`start`](Self::start). Progress as [`notify`](Self::notify), which it ends with; blocking
    /// only beside another `attach`.
    ///
    /// An external task runs as a task does: with a processor, so that
    /// [`blocking`](Self::blocking) gives that away, and [`schedule`](Self::schedule) uses its
    /// deque; and a panic costs it alone. No hook of the [`Runner`](crate::Runner) is called for
    /// it. A pool is not [quiescent](Self::is_quiescent) while there are some; one that is told to
    /// [`stop`](Self::stop) runs them first.
    ///
    /// All that the caller did before happens before each call of the source.
    ///
    /// # Errors
    /// [`AttachError`], if the pool has one.
    pub fn attach<S: Source>(&self, source: Arc<S>) -> Result<(), AttachError> {
        self.shared.queues.source.attach(source)?;
        // To those that have seen none when they went to sleep, all that is there is new.
        self.notify();
        Ok(())
    }

    /// Wakes a processor for something that was put into the pool's source, if one is idle and none
    /// searches. On any thread. A full fence and a load; wait-free if none is to be woken, else
    /// lock-free, plus a system call.
    ///
    /// All that the caller did before happens before the external task is run, by the source's own
    /// means; and before the look of a thread that was woken.
    #[inline]
    pub fn notify(&self) {
        self.shared.coordinator.wake_one();
        self.shared.long_turns.put();
    }

    /// Returns whether the pool has been told to [stop](Self::stop). Then what a thread outside
    /// puts into the source might come too late. One that puts something there,
    /// [notifies](Self::notify), and hears `false`, can rely on it that it will be run. Wait-free:
    /// a load.
    pub fn is_ending(&self) -> bool {
        self.shared.coordinator.is_ending()
    }

    /// Wakes every thread of the pool that waits for a processor, or for something to do with the
    /// one it has: each calls [`nudged`](Source::nudged) of the source before it waits on. A thread
    /// that does something else calls it before it waits the next time. An unpark for each thread;
    /// lock-free, plus system calls.
    ///
    /// All that the caller did before happens before these calls.
    pub fn nudge_threads(&self) {
        self.shared.coordinator.nudge_all();
    }
}
