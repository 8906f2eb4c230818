//! The user's part of a pool: the code that runs a task, and the wait of a guest for its own.

use std::num::NonZeroU64;
use std::sync::Arc;

use crate::pool::processors::Processors;
use crate::protocol::Permit;
use crate::protocol::state::synced::BoundId;

/// Runs tasks; implemented by the user of the crate.
pub trait Runner<T>: Send + Sync + 'static {
    /// The state that a thread keeps from task to task; made on it, and never leaves it.
    type Scratch;

    /// The scratch for the thread of that number. Threads come and go, as many at a time as
    /// [`Config::thread_limit`](crate::Config::thread_limit) says, and numbers are used again.
    ///
    /// If it panics, there is no such thread, and the others do its work: see
    /// [`start`](crate::Processors::start). It must not wait for a task.
    fn scratch(&self, thread: usize) -> Self::Scratch;

    /// The thread that the task is bound to, if it is: see
    /// [`Processors::reserve_thread`](crate::Processors::reserve_thread). Asked of every task that
    /// is about to run, by the thread that has found it. The default answers "none", and costs
    /// nothing. If it panics, the task is gone, as if it had panicked itself.
    #[inline]
    fn bound_to(&self, _task: &T) -> Option<BoundId> {
        None
    }

    /// A number by which a [`Dump`](crate::Dump) can name the task while it runs, blocks or waits
    /// for its thread; not [`NonZeroU64::MAX`]. The default answers "none", and costs nothing; a
    /// label costs two stores a task. It must not call the pool. If it panics before the task runs,
    /// the task is gone, as if it had panicked itself; in a dump it answers "none".
    #[inline]
    fn label(&self, _task: &T) -> Option<NonZeroU64> {
        None
    }

    /// Returns what a person should read for that number. It must not call the pool. If it panics,
    /// a dump shows the number and what the panic said.
    fn describe(&self, label: NonZeroU64) -> String {
        format!("task {label}")
    }

    /// Called with the number of the processor that the next task begins on: see
    /// [`Processors::current`](crate::Processors::current), which costs more. The default does
    /// nothing, and costs nothing. If it panics, the task is gone, as if it had panicked itself.
    #[inline]
    fn on_processor(&self, _processor: usize, _scratch: &mut Self::Scratch) {}

    /// Runs one task of `pool`. What that [schedules](Processors::schedule) there goes to the deque
    /// of its processor, the last one to be run next. A panic is contained and counted; the task is
    /// gone.
    fn run(&self, task: T, pool: &Arc<Processors<T>>, scratch: &mut Self::Scratch);
}

/// A wait of a thread from outside: for a task, or for what comes of it. For
/// [`Processors::run_awaited`](crate::Processors::run_awaited).
pub trait Awaited<T> {
    /// Returns whether the wait is over.
    fn is_over(&self) -> bool;

    /// Returns whether this is the task, and not another one.
    fn is(&self, task: &T) -> bool;

    /// Returns whether the task waits for what its turns may have made runnable: then a guest runs
    /// that as well. Default: it does not.
    fn needs_others(&self) -> bool {
        false
    }
}

/// A processor that was idle, on the thread that has borrowed it.
pub(crate) struct CallerRuns {
    pub(crate) permit: Permit,
    /// The machine that waits to get it back.
    pub(crate) lender: usize,
}
