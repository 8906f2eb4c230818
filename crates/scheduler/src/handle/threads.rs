//! The workers as threads: threads that processes are bound to, blocking calls, and other work than
//! processes.

use std::fmt;

use filch_processors::{PoolError, Processors};

use crate::table::slot::Task;
use crate::{Handle, Protocol};

/// A thread for processes that must all run on the same one, as some libraries demand; from
/// [`Handle::reserve_thread`]. A [submission](crate::Submission::bound_to) says that its process
/// runs there.
///
/// A worker that finds one of its processes calls this thread, which gets an idle processor, or
/// that worker's. That costs the wake-up of a sleeping thread, some five microseconds a step. All
/// code of these processes runs here, except for the first `init`, the `close` after an `init` that
/// refuses, and the destructor of the output.
///
/// After it is dropped, its processes run on any worker that finds them. It need not be dropped
/// before the scheduler is shut down.
#[must_use = "a thread that is released at once runs nothing"]
pub struct BoundThread<P: Protocol>(pub(crate) filch_processors::BoundThread<Task<P>>);

impl<P: Protocol> fmt::Debug for BoundThread<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BoundThread").field(&self.0.id()).finish()
    }
}

impl<P: Protocol> Handle<P> {
    /// Starts a thread for [processes bound to it](BoundThread).
    ///
    /// # Errors
    /// [`PoolError`]: the scheduler is shut down, has as many such threads as it may have (256),
    /// or the system refused one.
    pub fn reserve_thread(&self) -> Result<BoundThread<P>, PoolError> {
        Processors::reserve_thread(&self.shared().processors).map(BoundThread)
    }

    /// Runs `call`, which may block, in the middle of a step: meanwhile another thread runs the
    /// worker's other processes; the step goes on afterwards. Outside a step it just runs `call`.
    /// Blocking.
    ///
    /// Beyond the [limit of threads](filch_processors::Config::thread_limit), and while the
    /// scheduler shuts down, `call` keeps the worker. Therefore it must not wait for another
    /// process of the same scheduler. Worth it from some ten microseconds on. A panic in `call`
    /// goes on through the step.
    #[doc(alias = "block_in_place")]
    pub fn blocking<R>(&self, call: impl FnOnce() -> R) -> R {
        self.shared().processors.blocking(call)
    }
}

/// Checks if the calling thread is of timers, of a blocking pool, or a worker of any scheduler.
pub(crate) fn is_ours() -> bool {
    filch_blocking::is_blocking_thread()
        || filch_timers::is_timer_thread()
        || filch_processors::is_machine()
}

impl<P: Protocol> Handle<P> {
    /// Changes the number of workers, and returns the former number. From any thread, in a step
    /// too. New workers begin at once; surplus ones leave when their step is over. Nothing runnable
    /// is lost. It waits for another change that is under way, but for no step.
    ///
    /// # Errors
    /// [`PoolError`]: zero, more than [the
    /// most](filch_processors::Config::max_processors), or after the shutdown; or the system has
    /// refused a thread, and there are as many workers as it gave.
    #[doc(alias = "GOMAXPROCS")]
    pub fn set_workers(&self, workers: usize) -> Result<usize, PoolError> {
        self.shared().processors.resize(workers)
    }

    /// Returns the workers for other kinds of work: `filch_fork_join::Pool::on` runs its jobs on
    /// them, beside the processes. The scheduler ends, as at any
    /// [shutdown](crate::Scheduler::shutdown), when no job is left; the
    /// [report](crate::ShutdownReport) names one that does not return.
    pub fn pool(&self) -> filch_processors::PoolHandle {
        self.shared().processors.clone()
    }
}
